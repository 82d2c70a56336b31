// profiler annotate

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/event_choice.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/perf_options.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/read/recording.h"
#include "src/profile/losses_text.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/listing.h"
#include "src/views/annotate/source_files.h"
#include "src/views/report/event_groups.h"
#include "src/views/summary/summary.h"

namespace profiler::cli {
namespace {

struct AnnotateArguments {
  ViewArguments view;
  std::string symbol;
  std::string image;
  std::string syntax = "att";
  std::string percent_type = "local-period";
  bool source = false;    // True for source lines in a page.
  bool children = false;  // True to count samples in callees for the calls.
  annotate::ListingOptions listing;
};

bool IsInImage(const profile::Profile& profile, const annotate::ChosenFunction& function,
               const std::string& name) {
  const profile::Image& image = profile[profile[function.symbol].image];
  return name.empty() || profile.text(image.name) == name || profile.text(image.long_name) == name;
}

// Returns the further events, with samples, of the group that the event leads. Returns none if the
// user named the event, because then it is shown alone. Columns of callees leave no room for them.
annotate::GroupMembers MembersOf(const AnnotateArguments& arguments,
                                 const naming::LoadedProfile& loaded, profile::EventId event) {
  annotate::GroupMembers members;
  if (!arguments.view.event.empty() || arguments.children) return members;
  for (const report::EventGroup& group : report::EventGroupsOf(*loaded.recording)) {
    if (!group.Has(event)) continue;
    members.name = group.name;
    for (const profile::EventId member : group.events) {
      if (member != event && loaded.profile[member].samples != 0) members.events.push_back(member);
    }
  }
  return members;
}

annotate::Counted CountedBy(const AnnotateArguments& arguments) {
  return arguments.children ? annotate::Counted::kWithCallees : annotate::Counted::kOwn;
}

// Returns a command line that annotates a function of the same samples.
std::string CommandFor(const AnnotateArguments& arguments, bool children,
                       std::string_view function) {
  const std::string& input = arguments.view.input;
  const std::string selection = SelectionOf(arguments.view);
  return absl::StrCat("profiler annotate", children ? " --children" : "",
                      input == "perf.data" ? "" : " -i " + summary::ShellWord(input),
                      selection.empty() ? "" : " ", selection, " ", summary::ShellWord(function));
}

analysis::Weight TotalOf(const profile::Profile& profile, profile::EventId event) {
  analysis::Weight total;
  for (const profile::Row& row : profile.rows) {
    if (row.event == event) total += analysis::WeightOf(row);
  }
  return total;
}

// Adds the command that shows the code to the reason why the function has no samples of its own.
// The profile must have callers.
absl::Status WithCommand(const absl::Status& status, const AnnotateArguments& arguments,
                         const profile::Profile& profile, profile::EventId event) {
  if (arguments.view.input == "-") return status;  // a pipe's recording cannot be read again
  const std::string& name = arguments.symbol;
  const auto containers = annotate::InlinedInto(profile, event, name);
  if (!containers.empty()) {
    const std::string_view heaviest = profile.text(profile[containers[0].symbol].name);
    const bool has_own = annotate::ChooseFunctions(profile, event, heaviest).ok();
    const bool children = arguments.children || !has_own;
    return absl::Status(status.code(), absl::StrCat(status.message(), ": ",
                                                    CommandFor(arguments, children, heaviest)));
  }
  const auto through =
      annotate::ChooseFunctions(profile, event, name, annotate::Counted::kWithCallees);
  const analysis::Weight total = TotalOf(profile, event);
  if (!through.ok() || total.period == 0) return status;
  const std::string part =
      absl::StrFormat(". %.1f %% of ", Percent(through->front().period, total.period));
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), part, View(profile.text(profile[event].name)),
                                   " passes through it: run ", CommandFor(arguments, true, name),
                                   " to see by which lines"));
}

annotate::PercentType PercentTypeOf(const std::string& name) {
  using enum annotate::PercentType;
  if (name == "local-hits") return kLocalHits;
  if (name == "global-period") return kGlobalPeriod;
  return name == "global-hits" ? kGlobalHits : kLocalPeriod;
}

// True if any sample of the event has a caller.
bool HasCallers(const profile::Profile& profile, profile::EventId event) {
  return std::ranges::any_of(profile.rows, [&](const profile::Row& row) {
    return row.event == event && profile[row.stack].depth > 1;
  });
}

// Returns the options of the listing, with the weight of the event and of the members.
annotate::ListingOptions ListingOf(const AnnotateArguments& arguments,
                                   const profile::Profile& profile, profile::EventId event,
                                   const annotate::GroupMembers& members) {
  annotate::ListingOptions listing = arguments.listing;
  listing.percent = PercentTypeOf(arguments.percent_type);
  listing.totals.push_back(TotalOf(profile, event));
  for (const profile::EventId member : members.events) {
    listing.totals.push_back(TotalOf(profile, member));
  }
  return listing;
}

// Writes the functions. Returns true if at least one function was shown.
bool WriteFunctions(const AnnotateArguments& arguments, const naming::LoadedProfile& loaded,
                    const std::vector<annotate::ChosenFunction>& functions, profile::EventId event,
                    Output& output) {
  const annotate::Syntax syntax =
      arguments.syntax == "intel" ? annotate::Syntax::kIntel : annotate::Syntax::kAtt;
  annotate::SourceFiles sources;
  const std::string losses = profile::LossesText(loaded.profile.losses);
  if (!losses.empty()) output.Write("# Losses: " + losses + "\n");
  const annotate::GroupMembers members = MembersOf(arguments, loaded, event);
  const annotate::ListingOptions listing = ListingOf(arguments, loaded.profile, event, members);
  bool shown = false;
  for (const annotate::ChosenFunction& chosen : functions) {
    const auto function = annotate::Annotate(loaded.profile, event, chosen, *loaded.names, syntax,
                                             members, CountedBy(arguments));
    if (!function.ok()) {
      PrintError(function.status());
      continue;
    }
    if (shown) output.Write("\n");
    if (arguments.listing.source) sources.Permit(*function, *loaded.names);
    output.Write(annotate::FormatListing(*function, listing, sources.Text()));
    shown = true;
  }
  for (const std::string& refused : sources.Refusals()) PrintWarning(refused);
  return shown;
}

int WriteCodePage(const AnnotateArguments& arguments) {
  return WritePage(arguments.view, {.output = arguments.view.output,
                                    .event = arguments.view.event,
                                    .view = page::OpenedView::kCode,
                                    .source = arguments.source,
                                    .code_of_files = true,
                                    .function = arguments.symbol});
}

int Annotate(const AnnotateArguments& arguments) {
  if (IsPage(arguments.view.output)) return WriteCodePage(arguments);
  if (const absl::Status wrong = CheckSource(arguments.source, arguments.view.output);
      !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (const absl::Status refused = CheckViewOutput(arguments.view.output, arguments.view.input);
      !refused.ok()) {
    PrintError(refused);
    return kExitUsage;
  }
  auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  load->keep_names = true;
  // Without --children, callers are only needed to say why a function has no samples of its own.
  load->keep_callers = arguments.children || load->plan.fold_native ||
                       !perf_data::CanBeReadAgain(arguments.view.input);
  auto loaded = LoadProfileOrPrint(arguments.view.input, *load);
  if (!loaded) return kExitFailure;
  if (loaded->nothing_left) {
    PrintError(absl::StrCat(arguments.view.input, ": ", *loaded->nothing_left));
    return kExitFailure;
  }
  const auto event = analysis::ChooseEvent(loaded->profile, arguments.view.event);
  if (!event.ok()) {
    PrintError(event.status());
    return kExitUsage;
  }
  if (!*event) {
    PrintError("the recording has no samples");
    return kExitFailure;
  }
  if (arguments.children && !HasCallers(loaded->profile, **event)) {
    PrintError(
        "--children: the recording has no call chains, so no callers are known; record with -g");
    return kExitFailure;
  }
  const annotate::Counted counted = CountedBy(arguments);
  auto functions = annotate::ChooseFunctions(loaded->profile, **event, arguments.symbol, counted);
  if (!functions.ok() && !load->keep_callers) {
    load->keep_callers = true;
    loaded = LoadProfileOrPrint(arguments.view.input, *load);
    if (!loaded) return kExitFailure;
    functions = annotate::ChooseFunctions(loaded->profile, **event, arguments.symbol, counted);
  }
  if (!functions.ok()) {
    PrintError(WithCommand(functions.status(), arguments, loaded->profile, **event));
    return kExitFailure;
  }
  std::erase_if(*functions, [&](const annotate::ChosenFunction& function) {
    return !IsInImage(loaded->profile, function, arguments.image);
  });
  if (functions->empty()) {
    PrintError("there is no such function in '" + arguments.image + "'");
    return kExitFailure;
  }
  naming::AddRecordedCode(loaded->recording->features(), *loaded->names);
  Output output(arguments.view.output, Lines::kFitted);
  const bool any = WriteFunctions(arguments, *loaded, *functions, **event, output);
  const int finished = Finish(*loaded, output);
  return any ? finished : kExitFailure;
}

}  // namespace

void AddAnnotateCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("annotate", "Show the samples of a function by source line and instruction");
  auto arguments = std::make_shared<AnnotateArguments>();
  AnnotateArguments& a = *arguments;
  AddViewOptions(
      command, a.view,
      {.filters = FilterNames::kLongOnly,
       .output =
           "file to write; - for standard output; FILE.html for a page that opens at the function",
       .argument = "recording (default: -i), or the function (-s)"});
  command
      .AddOption("-s,--symbol", a.symbol,
                 "function, with or without its parameters (default: the one with the most "
                 "samples)")
      .ValueName("SYMBOL");
  command.AddOption("-d,--dso", a.image, "show only the function in this image").ValueName("NAME");
  command.AddOption("-M,--disassembler-style", a.syntax, "syntax of x86 instructions")
      .OneOf({"att", "intel"})
      .ShowDefault();
  command.AddFlag("--no-source{false}", a.listing.source, "show instructions without source lines");
  command.AddFlag("--children", a.children,
                  "also show the weight of callees: which lines call slow functions");
  command.AddFlag("-n,--show-nr-samples", a.listing.sample_counts,
                  "show the number of samples instead of their percentage");
  command.AddFlag("-l,--print-line", a.listing.line_numbers,
                  "append the source line to each instruction with at least 0.5 %");
  AddSourceOption(command, a.source);
  command
      .AddOption("--percent-type", a.percent_type,
                 "percentages of the function (local) or of the event (global), by period or by "
                 "samples (hits)")
      .OneOf({"local-period", "local-hits", "global-period", "global-hits"})
      .ShowDefault();
  AddIgnoredOption(command, "--objdump", "PATH", "this program disassembles instructions itself");
  command.AddFlag("--stdio,--stdio2", "accepted and ignored: the output is always plain text");
  command.AddFlag(
      "-f,--force",
      "accepted and ignored: recordings of other users are always read if permissions allow it");
  commands[&command] = RunView(
      command, a.view, [arguments] { return Annotate(*arguments); }, &a.symbol);
}

}  // namespace profiler::cli

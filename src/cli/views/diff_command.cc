// profiler diff

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/analysis/keyed_rows.h"
#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/load_run.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"
#include "src/views/diff/compare.h"
#include "src/views/diff/condition.h"
#include "src/views/diff/diff_json.h"
#include "src/views/diff/diff_text.h"
#include "src/views/report/paired_report.h"
#include "src/views/summary/summary.h"

namespace profiler::cli {
namespace {

// Exit code if the condition of --fail-if is met; it is neither a failure nor a usage error.
constexpr int kExitConditionMet = 3;

struct DiffArguments {
  ViewArguments view;
  std::vector<std::string> files;        // before `--`
  std::vector<std::string> after_files;  // after `--`
  std::string by = "function";
  std::string fail_if;
  bool total = false;
  bool all = false;
  bool markdown = false;
  bool json = false;
  bool perf_columns = false;
  std::string compute = "delta-abs";
  std::string sort;
  std::string percentage;
  uint32_t order = 1;
};

// The recordings of both sides.
struct Sides {
  std::vector<std::string> before, after;
};

constexpr const char* kUsualBefore = "perf.data.old";

absl::StatusOr<Sides> SidesOf(const DiffArguments& arguments) {
  const std::vector<std::string>& files = arguments.files;
  if (!arguments.after_files.empty()) {
    if (files.empty()) {
      return absl::InvalidArgumentError("diff: no recording is given before --");
    }
    return Sides{files, arguments.after_files};
  }
  if (files.empty()) return Sides{{kUsualBefore}, {"perf.data"}};
  if (files.size() == 1) return Sides{{kUsualBefore}, files};
  if (files.size() == 2) return Sides{{files[0]}, {files[1]}};
  return absl::InvalidArgumentError(
      "diff: separate the recordings of before and after with --: profiler diff A1 A2 -- B1 B2");
}

// Checks the recording of before, if the user did not name it: perf's default may surprise.
absl::Status CheckUsualBefore(const DiffArguments& arguments, const Sides& sides) {
  const bool is_named = arguments.files.size() > 1 || !arguments.after_files.empty();
  if (is_named || access(kUsualBefore, F_OK) == 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("diff: there is no ", kUsualBefore, " to compare ", sides.after[0],
                   " with; name both recordings: profiler diff BEFORE ",
                   arguments.files.empty() ? "AFTER" : summary::ShellWord(sides.after[0])));
}

analysis::KeyBy KeyByOf(const std::string& text) {
  if (text == "line") return analysis::KeyBy::kLine;
  return text == "path" ? analysis::KeyBy::kPath : analysis::KeyBy::kFunction;
}

std::optional<std::vector<diff::Run>> LoadRuns(const std::vector<std::string>& paths,
                                               const ViewOptions& load,
                                               const DiffArguments& arguments) {
  std::vector<diff::Run> runs;
  for (const std::string& path : paths) {
    auto run = LoadRun(path, load, arguments.view.event, KeyByOf(arguments.by));
    if (!run.ok()) {
      PrintError(run.status());
      return std::nullopt;
    }
    runs.push_back(*std::move(run));
  }
  return runs;
}

// Returns the name without modifiers, because an unprivileged recording counts "cpu-clock:u".
std::string_view BareName(std::string_view event) { return event.substr(0, event.find(':')); }

int WriteDiff(const DiffArguments& arguments, const Sides& sides, const ViewOptions& load,
              const std::optional<diff::Condition>& condition) {
  const auto before = LoadRuns(sides.before, load, arguments);
  if (!before) return kExitFailure;
  const auto after = LoadRuns(sides.after, load, arguments);
  if (!after) return kExitFailure;
  const std::string& event = before->front().event;
  for (const diff::Run& run : *after) {
    if (BareName(run.event) == BareName(event)) continue;
    PrintError(absl::StrCat("diff: ", sides.before[0], " has ", event, " and ", run.name, " has ",
                            run.event, ": --event chooses one that both have"));
    return kExitUsage;
  }
  const auto weight = arguments.total ? diff::Weight::kTotal : diff::Weight::kSelf;
  const auto order = arguments.order == 0 ? diff::RowOrder::kBefore : diff::RowOrder::kChange;
  const diff::Diff compared = diff::Compare(*before, *after, {.weight = weight, .order = order});
  Output output(arguments.view.output, arguments.json ? Lines::kWhole : Lines::kFitted);
  const analysis::KeyBy by = KeyByOf(arguments.by);
  output.Write(arguments.json ? diff::DiffAsJson(compared, *before, *after, by, weight)
                              : diff::FormatDiff(compared, *before, *after,
                                                 {.by = by,
                                                  .weight = weight,
                                                  .all = arguments.all,
                                                  .markdown = arguments.markdown,
                                                  .slower_first = arguments.order != 0}));
  if (const absl::Status written = output.Close(); !written.ok()) {
    PrintError(written);
    return kExitFailure;
  }
  if (!condition) return kExitOk;
  const diff::Diff judged = condition->weight == weight
                                ? compared
                                : diff::Compare(*before, *after, {.weight = condition->weight});
  int exit_code = kExitOk;
  for (const diff::Row& row : judged.rows) {
    if (!condition->IsMet(row)) continue;
    PrintNote(absl::StrCat("--fail-if '", arguments.fail_if, "': ", row.name));
    exit_code = kExitConditionMet;
  }
  return exit_code;
}

// Writes the comparison in perf's layout, without confidence intervals.
int WritePairedReport(const DiffArguments& arguments, const Sides& sides, const ViewOptions& load) {
  const auto before = LoadProfileOrPrint(sides.before[0], load);
  if (!before) return kExitFailure;
  const auto after = LoadProfileOrPrint(sides.after[0], load);
  if (!after) return kExitFailure;
  const auto &none_before = before->nothing_left, &none_after = after->nothing_left;
  if (none_before) PrintWarning(absl::StrCat(sides.before[0], ": ", *none_before));
  if (none_after) PrintWarning(absl::StrCat(sides.after[0], ": ", *none_after));
  Output output(arguments.view.output, Lines::kFitted);
  output.Write(report::FormatPairedReport(
      before->profile, after->profile,
      arguments.order == 0 ? report::PairedOrder::kBaseline : report::PairedOrder::kDifference));
  PrintRefusedFiles(before->profile);
  if (!before->reading.ok()) PrintError(before->reading);
  const int finished = Finish(*after, output);
  return before->reading.ok() ? finished : kExitFailure;
}

int WriteDiffPage(const DiffArguments& arguments, const Sides& sides) {
  if (sides.before.size() > 1 || sides.after.size() > 1) {
    PrintError("-o " + arguments.view.output +
               ": a page compares two recordings; leave out the others");
    return kExitUsage;
  }
  if (!arguments.fail_if.empty()) {
    PrintError("--fail-if: a page shows no verdict; write another format, or leave out -o");
    return kExitUsage;
  }
  return WritePageOfTwo(arguments.view, sides.before[0], sides.after[0],
                        {.output = arguments.view.output,
                         .event = arguments.view.event,
                         .view = page::OpenedView::kTable});
}

// Checks options of perf that have one meaning here.
absl::Status CheckPerfOptions(const DiffArguments& arguments) {
  if (arguments.compute != "delta" && arguments.compute != "delta-abs") {
    return absl::InvalidArgumentError(
        absl::StrCat("--compute: '", arguments.compute,
                     "' is not computed here: the table has both shares, their difference and how "
                     "sure it is; leave --compute out"));
  }
  const std::vector<std::string> keys = SplitList(arguments.sort);
  const auto is_symbol = [](const std::string& key) { return key == "symbol" || key == "sym"; };
  const bool fits = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return key == "dso" || is_symbol(key);
  });
  if (!arguments.sort.empty() && (!fits || std::none_of(keys.begin(), keys.end(), is_symbol))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sort: '", arguments.sort,
                     "': functions are compared (dso,symbol), or what --by says; --comm, --dso, "
                     "--pid and --tid choose samples"));
  }
  const FilterText& filter = arguments.view.filter;
  const bool filters = !filter.comms.empty() || !filter.images.empty() || !filter.symbols.empty() ||
                       !filter.pids.empty() || !filter.tids.empty();
  if (arguments.percentage == "absolute" && filters) {
    return absl::InvalidArgumentError(
        "--percentage absolute cannot be used with filters, because diff shows shares of the "
        "samples that pass the filters");
  }
  return absl::OkStatus();
}

int RunDiff(const DiffArguments& arguments) {
  if (const absl::Status wrong = CheckPerfOptions(arguments); !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  const auto sides = SidesOf(arguments);
  if (!sides.ok()) {
    PrintError(sides.status());
    return kExitUsage;
  }
  if (const absl::Status missing = CheckUsualBefore(arguments, *sides); !missing.ok()) {
    PrintError(missing);
    return kExitFailure;
  }
  if (IsPage(arguments.view.output)) return WriteDiffPage(arguments, *sides);
  std::optional<diff::Condition> condition;
  if (!arguments.fail_if.empty()) {
    const auto parsed = diff::ParseCondition(arguments.fail_if);
    if (!parsed.ok()) {
      PrintError(absl::StrCat("--fail-if: ", parsed.status().message()));
      return kExitUsage;
    }
    condition = *parsed;
  }
  auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  for (const std::string& input : sides->before) {
    if (const absl::Status refused = CheckViewOutput(arguments.view.output, input); !refused.ok()) {
      PrintError(refused);
      return kExitUsage;
    }
  }
  if (arguments.perf_columns) {
    if (sides->before.size() > 1 || sides->after.size() > 1) {
      PrintError("--perf: perf's columns are of two recordings; leave it out to compare groups");
      return kExitUsage;
    }
    load->naming.function_starts = false;  // perf does not name functions without symbols
    return WritePairedReport(arguments, *sides, *load);
  }
  AskForRuns(*load);
  return WriteDiff(arguments, *sides, *load, condition);
}

}  // namespace

void AddDiffCommand(usage::Command& app, Commands& commands, Invocation invocation) {
  usage::Command& command =
      app.AddCommand("diff", "Compare recordings: changes that are larger than statistical noise");
  auto arguments = std::make_shared<DiffArguments>();
  DiffArguments& a = *arguments;
  command.AddOption("FILE", a.files,
                    "recordings of before and of after, several of each with -- between them "
                    "(default: perf.data.old perf.data)");
  AddViewOptions(
      command, a.view,
      {.filters = FilterNames::kSingular,
       .output = "file to write; - for standard output; x.html for a page with all views of both",
       .has_input = false});
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  AddNameRules(command, a.view.names);
  command.AddOption("--by", a.by, "compare functions, source lines or paths")
      .OneOf({"function", "line", "path"})
      .ShowDefault();
  command.AddFlag("--total", a.total, "compare functions with their callees");
  command.AddFlag("--all", a.all, "also show changes within statistical noise");
  command.AddOption("--order", a.order, "sort rows by the share before (0) or by the change (1)")
      .InRange(0, 1)
      .ShowDefault();
  command
      .AddOption("-c,--compute", a.compute,
                 "accepted and ignored, because diff always sorts by the change: delta, delta-abs")
      .ValueName("HOW");
  command
      .AddOption("-s,--sort", a.sort,
                 "accepted and ignored, because diff always compares functions: symbol; dso,symbol")
      .ValueName("KEY,…");
  command
      .AddOption("--percentage", a.percentage,
                 "accepted and ignored: shares are of the samples that pass the filters")
      .OneOf({"absolute", "relative"});
  const usage::Option perf = command.AddFlag(
      "--perf", a.perf_columns, "show perf diff's columns: every row, without statistics");
  const usage::Option markdown =
      command.AddFlag("--markdown", a.markdown, "a table for a review comment");
  AddJsonOption(command, a.json).Excludes(perf).Excludes(markdown);
  command
      .AddOption(
          "--fail-if", a.fail_if,
          "exit with 3 if a significant change meets this condition: 'self > +2pt' (points of "
          "the whole), 'total > +10%' (of its former value)")
      .ValueName("CONDITION");
  a.after_files = std::move(invocation.command);
  commands[&command] = [arguments] { return RunDiff(*arguments); };
}

}  // namespace profiler::cli

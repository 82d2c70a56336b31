// profiler flamegraph, profiler folded

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/command.h"
#include "src/cli/files/export_formats.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"
#include "src/views/flamegraph/flame_graph.h"
#include "src/views/flamegraph/folded.h"

namespace profiler::cli {
namespace {

struct FlameGraphArguments {
  ViewArguments view;
  std::string title = "Flame graph";
  bool reverse = false;
  bool inverted = false;
  uint32_t width = 0;
  double min_percent = 0;
  std::string colors = "kind";
  std::string before;  // baseline recording; empty: none
  bool full_names = false;
  bool source = false;
};

// The profile and the event to show. Load() returns a Chosen or, after printing an error, the exit
// code.
struct Chosen {
  std::unique_ptr<const LoadedView> loaded;
  std::optional<profile::EventId> event;
};

std::variant<Chosen, int> Load(const FlameGraphArguments& arguments, const std::string& output,
                               bool function_starts) {
  if (const absl::Status refused = CheckViewOutput(output, arguments.view.input); !refused.ok()) {
    PrintError(refused);
    return kExitUsage;
  }
  auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  load->naming.function_starts = function_starts;
  load->plan.wall_clock = analysis::WallClockFor(arguments.view.event);
  auto loaded = LoadProfileOrPrint(arguments.view.input, *load);
  if (!loaded) return kExitFailure;
  auto event = analysis::ChooseEvent(loaded->profile, arguments.view.event);
  if (!event.ok()) {
    PrintError(event.status());
    return kExitUsage;
  }
  return Chosen{std::move(loaded), *event};
}

int WriteFoldedText(const FlameGraphArguments& arguments, const std::string& path) {
  // stackcollapse-perf.pl names code without a symbol after its image.
  const auto chosen = Load(arguments, path, arguments.full_names);
  if (const int* exit_code = std::get_if<int>(&chosen)) return *exit_code;
  const auto& [loaded, event] = std::get<Chosen>(chosen);
  if (loaded->nothing_left) PrintWarning(*loaded->nothing_left);
  exports::FoldedOptions options;
  options.event = event;
  if (arguments.full_names) options.names = exports::NameStyle::kFull;
  Output output(path);
  exports::WriteFolded(loaded->profile, options,
                       [&](std::string_view lines) { output.Write(lines); });
  return Finish(*loaded, output);
}

exports::FlameColors ColorsOf(const std::string& text) {
  if (text == "safe") return exports::FlameColors::kSafe;
  if (text == "name") return exports::FlameColors::kName;
  return text == "image" ? exports::FlameColors::kImage : exports::FlameColors::kKind;
}

int WriteFlamePage(const FlameGraphArguments& arguments) {
  PageRequest request{.output = arguments.view.output,
                      .event = arguments.view.event,
                      .reverse = arguments.reverse,
                      .inverted = arguments.inverted,
                      .source = arguments.source};
  // The default title of FlameGraphArguments is for pictures; a page has its own default.
  if (arguments.title != FlameGraphArguments().title) request.title = arguments.title;
  return WritePage(arguments.view, request);
}

int WriteFlameGraph(const FlameGraphArguments& arguments) {
  if (IsPage(arguments.view.output)) return WriteFlamePage(arguments);
  if (const absl::Status wrong = CheckSource(arguments.source, arguments.view.output);
      !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (arguments.view.output.ends_with(".folded"))
    return WriteFoldedText(arguments, arguments.view.output);
  const ExportFormat* const format = FormatOfView(arguments.view.output);
  if (format != nullptr && format->name != "svg") {
    return Export({arguments.view, arguments.view.event, arguments.view.output}, *format);
  }
  const auto chosen = Load(arguments, arguments.view.output, true);
  if (const int* exit_code = std::get_if<int>(&chosen)) return *exit_code;
  const auto& [loaded, event] = std::get<Chosen>(chosen);
  if (loaded->nothing_left) {
    PrintError(absl::StrCat(arguments.view.input, ": ", *loaded->nothing_left));
    return kExitFailure;
  }
  exports::FlameGraphOptions options;
  options.title = arguments.title;
  options.event = event;
  options.reverse = arguments.reverse;
  options.inverted = arguments.inverted;
  options.width = arguments.width;
  options.min_percent = arguments.min_percent;
  options.colors = ColorsOf(arguments.colors);
  std::optional<Chosen> before;
  if (!arguments.before.empty()) {
    FlameGraphArguments of_before = arguments;
    of_before.view.input = arguments.before;
    auto chosen_before = Load(of_before, arguments.view.output, true);
    if (const int* exit_code = std::get_if<int>(&chosen_before)) return *exit_code;
    before = std::get<Chosen>(std::move(chosen_before));
    options.before = &before->loaded->profile;
  }
  Output output(arguments.view.output);
  output.Write(exports::FlameGraphSvg(loaded->profile, options));
  return Finish(*loaded, output);
}

void AddCommonOptions(usage::Command& command, FlameGraphArguments& a,
                      const OfferedOptions& options) {
  AddViewOptions(command, a.view, options);
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  AddNameRules(command, a.view.names);
}

}  // namespace

void AddFlameGraphCommands(usage::Command& app, Commands& commands) {
  usage::Command& flamegraph =
      app.AddCommand("flamegraph", "Draw a flame graph: an SVG to zoom and search in a browser");
  auto arguments = std::make_shared<FlameGraphArguments>();
  FlameGraphArguments& a = *arguments;
  a.view.output = "flamegraph.svg";
  AddCommonOptions(
      flamegraph, a,
      {.output = "file to write; - for standard output; x.html for a page with all views; x.folded "
                 "for folded text"});
  AddSourceOption(flamegraph, a.source);
  flamegraph.AddOption("--title", a.title, "heading").ShowDefault();
  flamegraph.AddFlag("--reverse", a.reverse, "merge from the leaf: who calls what is hot");
  flamegraph.AddFlag("--inverted", a.inverted, "root at the top");
  flamegraph.AddOption("--width", a.width, "pixels; 0: as wide as the window")
      .InRange(uint32_t{0}, uint32_t{20000})
      .ShowDefault();
  flamegraph.AddOption("--min-percent", a.min_percent, "leave out narrower boxes")
      .InRange(0.0, 100.0)
      .ValueName("PERCENT");
  flamegraph
      .AddOption("--colors", a.colors,
                 "what a colour tells: the kind of code (safe: in colours for eyes that see red "
                 "and green alike), the function's name, or its image")
      .OneOf({"kind", "safe", "name", "image"})
      .ShowDefault();
  flamegraph
      .AddOption("--before", a.before,
                 "another recording: red is what takes more than there, blue what takes less")
      .ValueName("FILE");
  commands[&flamegraph] =
      RunView(flamegraph, a.view, [arguments] { return WriteFlameGraph(*arguments); });

  usage::Command& folded =
      app.AddCommand("folded", "Print one line a distinct stack: comm;root;…;leaf WEIGHT");
  auto folded_arguments = std::make_shared<FlameGraphArguments>();
  AddCommonOptions(folded, *folded_arguments, {});
  folded.AddFlag("--full-names", folded_arguments->full_names,
                 "keep parameters and all frames, which stackcollapse-perf.pl cuts");
  commands[&folded] = RunView(folded, folded_arguments->view, [folded_arguments] {
    return WriteFoldedText(*folded_arguments, folded_arguments->view.output);
  });
}

}  // namespace profiler::cli

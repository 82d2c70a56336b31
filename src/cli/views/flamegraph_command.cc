// profiler flamegraph, profiler folded

#include <memory>
#include <string>

#include "src/cli/command.h"
#include "src/cli/files/export_formats.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/flame_view.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"

namespace profiler::cli {
namespace {

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

// Refuses names of pictures that are not SVG, which would get SVG as their contents.
absl::Status CheckPicture(const std::string& path) {
  for (const std::string_view ending : {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}) {
    if (!path.ends_with(ending)) continue;
    const std::string svg = path.substr(0, path.size() - ending.size()) + ".svg";
    return absl::InvalidArgumentError(
        absl::StrCat("-o ", path, ": flamegraph writes .svg, .html and .folded; write ", svg,
                     ending == ".png" ? absl::StrCat(", then run `rsvg-convert ", svg, " -o ", path,
                                                     "` (Debian package librsvg2-bin)")
                                      : ""));
  }
  return absl::OkStatus();
}

int WriteFlameGraph(const FlameGraphArguments& arguments) {
  if (const absl::Status wrong = CheckPicture(arguments.view.output); !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (IsPage(arguments.view.output)) return WriteFlamePage(arguments);
  if (const absl::Status wrong = CheckSource(arguments.source, arguments.view.output);
      !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  const ExportFormat* const format = FormatOfView(arguments.view.output);
  if (format != nullptr && format->name != "svg") {
    return Export({arguments.view, arguments.view.event, arguments.view.output}, *format);
  }
  return WriteFlamePicture(arguments);
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
  AddCommonOptions(flamegraph, a,
                   {.output = "file to write; - for standard output; FILE.html for a page with all "
                              "views; FILE.folded for folded text"});
  AddSourceOption(flamegraph, a.source);
  flamegraph.AddOption("--title", a.title, "heading").ShowDefault();
  flamegraph.AddFlag("--reverse", a.reverse,
                     "merge stacks from the leaf, to show the callers of hot functions");
  flamegraph.AddFlag("--inverted", a.inverted, "draw the root at the top");
  flamegraph.AddOption("--width", a.width, "width in pixels; 0: the width of the window")
      .InRange(uint32_t{0}, uint32_t{20000})
      .ShowDefault();
  flamegraph.AddOption("--min-percent", a.min_percent, "leave out boxes below this percentage")
      .InRange(0.0, 100.0)
      .ValueName("PERCENT");
  flamegraph
      .AddOption("--colors", a.colors,
                 "what colours show: the kind of code (safe: in colours for red-green colour "
                 "blindness), the function's name, or its image")
      .OneOf({"kind", "safe", "name", "image"})
      .ShowDefault();
  flamegraph
      .AddOption("--before", a.before,
                 "compare with this earlier recording: functions that take more are red, functions "
                 "that take less are blue")
      .ValueName("FILE");
  commands[&flamegraph] =
      RunView(flamegraph, a.view, [arguments] { return WriteFlameGraph(*arguments); });

  usage::Command& folded =
      app.AddCommand("folded", "Print one line for each distinct stack: comm;root;…;leaf WEIGHT");
  auto folded_arguments = std::make_shared<FlameGraphArguments>();
  AddCommonOptions(folded, *folded_arguments, {});
  folded.AddFlag("--full-names", folded_arguments->full_names,
                 "keep parameters and frames that stackcollapse-perf.pl removes");
  commands[&folded] = RunView(folded, folded_arguments->view,
                              [folded_arguments] { return WriteFoldedText(*folded_arguments); });
}

}  // namespace profiler::cli

#include "src/cli/views/flame_view.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/load_view.h"
#include "src/cli/views/view.h"
#include "src/views/flamegraph/flame_graph.h"
#include "src/views/flamegraph/folded.h"

namespace profiler::cli {
namespace {

// The profile and the event to show. Load() returns a Chosen or, after printing an error, the exit
// code.
struct Chosen {
  std::unique_ptr<const LoadedView> loaded;
  std::optional<profile::EventId> event;
};

std::variant<Chosen, int> Load(const FlameGraphArguments& arguments, bool function_starts) {
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

// Returns the sentence that says why there are no samples; empty if there are some, or if the
// command also writes an output without samples.
std::string WithoutSamples(const FlameGraphArguments& arguments, const LoadedView& loaded) {
  if (loaded.nothing_left) return *loaded.nothing_left;
  return arguments.needs_samples && loaded.profile.rows.empty() ? "there are no samples to export"
                                                                : "";
}

int FailWithoutSamples(const FlameGraphArguments& arguments, const std::string& reason) {
  PrintError(absl::StrCat(arguments.view.input, ": ", reason));
  return kExitFailure;
}

exports::FlameColors ColorsOf(const std::string& text) {
  if (text == "safe") return exports::FlameColors::kSafe;
  if (text == "name") return exports::FlameColors::kName;
  return text == "image" ? exports::FlameColors::kImage : exports::FlameColors::kKind;
}

}  // namespace

int WriteFoldedText(const FlameGraphArguments& arguments) {
  // stackcollapse-perf.pl names code without a symbol after its image.
  const auto chosen = Load(arguments, arguments.full_names);
  if (const int* exit_code = std::get_if<int>(&chosen)) return *exit_code;
  const auto& [loaded, event] = std::get<Chosen>(chosen);
  if (const std::string reason = WithoutSamples(arguments, *loaded); !reason.empty()) {
    if (arguments.needs_samples) return FailWithoutSamples(arguments, reason);
    PrintWarning(reason);
  }
  exports::FoldedOptions options;
  options.event = event;
  if (arguments.full_names) options.names = exports::NameStyle::kFull;
  Output output(arguments.view.output);
  exports::WriteFolded(loaded->profile, options,
                       [&](std::string_view lines) { output.Write(lines); });
  return Finish(*loaded, output);
}

int WriteFlamePicture(const FlameGraphArguments& arguments) {
  const auto chosen = Load(arguments, true);
  if (const int* exit_code = std::get_if<int>(&chosen)) return *exit_code;
  const auto& [loaded, event] = std::get<Chosen>(chosen);
  if (const std::string reason = WithoutSamples(arguments, *loaded); !reason.empty()) {
    return FailWithoutSamples(arguments, reason);
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
    auto chosen_before = Load(of_before, true);
    if (const int* exit_code = std::get_if<int>(&chosen_before)) return *exit_code;
    before = std::get<Chosen>(std::move(chosen_before));
    options.before = &before->loaded->profile;
  }
  Output output(arguments.view.output);
  output.Write(exports::FlameGraphSvg(loaded->profile, options));
  return Finish(*loaded, output);
}

}  // namespace profiler::cli

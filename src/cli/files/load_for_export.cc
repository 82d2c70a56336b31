#include "src/cli/files/load_for_export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"

namespace profiler::cli {

std::variant<std::unique_ptr<const LoadedView>, int> LoadForExport(
    const ExportRequest& request, bool times, decltype(naming::LoadOptions::on_record) on_record) {
  auto load = LoadOptionsOf(request.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  load->keep_thread = true;
  load->on_record = std::move(on_record);
  load->naming.function_starts = true;
  if (times) {
    load->dimensions[static_cast<size_t>(profile::Dimension::kTime)] = true;
    load->time_quantum = 1;
  }
  load->plan.only_event = request.event;
  auto loaded = LoadProfileOrPrint(request.view.input, *load);
  if (!loaded) return kExitFailure;
  if (loaded->nothing_left) {
    PrintError(absl::StrCat(request.view.input, ": ", *loaded->nothing_left));
    return kExitFailure;
  }
  if (!request.event.empty()) {
    const auto events = analysis::EventsNamed(loaded->profile, request.event);
    if (!events.ok()) {
      PrintError(events.status());
      return kExitUsage;
    }
  }
  if (loaded->profile.rows.empty()) {
    PrintError(absl::StrCat(request.view.input, ": the recording has no samples to export"));
    return kExitFailure;
  }
  return loaded;
}

}  // namespace profiler::cli

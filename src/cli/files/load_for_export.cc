#include "src/cli/files/load_for_export.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/filter.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"

namespace profiler::cli {
namespace {

// Keeps the rows of the events with that name. kNotFound lists the recording's events.
absl::Status KeepEvent(const std::string& name, profile::Profile& profile) {
  if (name.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const auto events, analysis::EventsNamed(profile, name));
  analysis::KeepRows(
      [&](const profile::Row& row) {
        return std::find(events.begin(), events.end(), row.event) != events.end();
      },
      profile);
  return absl::OkStatus();
}

}  // namespace

std::variant<naming::LoadedProfile, int> LoadForExport(
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
  auto loaded = LoadProfileOrPrint(request.view.input, *load);
  if (!loaded) return kExitFailure;
  if (const auto reason = KeepFiltered(*load, *loaded)) {
    PrintError(absl::StrCat(request.view.input, ": ", *reason));
    return kExitFailure;
  }
  if (const absl::Status unknown = KeepEvent(request.event, loaded->profile); !unknown.ok()) {
    PrintError(unknown);
    return kExitUsage;
  }
  if (loaded->profile.rows.empty()) {
    PrintError(absl::StrCat(request.view.input, ": there are no samples to export"));
    return kExitFailure;
  }
  return *std::move(loaded);
}

}  // namespace profiler::cli

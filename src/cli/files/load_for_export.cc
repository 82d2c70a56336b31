#include "src/cli/files/load_for_export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"

namespace profiler::cli {
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

// Loads a profile for exports: with all events, and without merging threads.

#pragma once

#include <memory>
#include <variant>

#include "src/cli/files/export_formats.h"
#include "src/cli/views/load_view.h"

namespace profiler::cli {

// Loads the profile. With `times` each sample time has its own row. `on_record`, if given, gets
// every record. Returns the exit code, after printing the error, if the recording cannot be read,
// has no event of the requested name, or has no samples that pass the filters.
std::variant<std::unique_ptr<const LoadedView>, int> LoadForExport(
    const ExportRequest& request, bool times,
    decltype(naming::LoadOptions::on_record) on_record = nullptr);

}  // namespace profiler::cli

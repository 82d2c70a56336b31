// The profile of a recording as files of other programs want it: threads apart, all events.

#pragma once

#include <variant>

#include "src/cli/export_formats.h"
#include "src/naming/load_profile.h"

namespace profiler::cli {

// With `times` there is a row for each sample's time. `on_record`, if given, gets every record.
// After printing what is wrong the exit code: the recording cannot be read, has no such event, or
// no samples that pass the filters.
std::variant<naming::LoadedProfile, int> LoadForExport(
    const ExportRequest& request, bool times,
    decltype(naming::LoadOptions::on_record) on_record = nullptr);

}  // namespace profiler::cli

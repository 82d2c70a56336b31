// Makes reports for tests.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"
#include "src/views/report/fields.h"
#include "src/views/report/options.h"
#include "src/views/report/report.h"

namespace profiler::report {

// Returns the report as one string.
inline std::string FormatReport(const profile::Profile& profile, const ReportOptions& options) {
  std::string text;
  WriteReport(profile, options, [&](std::string_view piece) { text.append(piece); });
  return text;
}

// Parses sort keys. Also returns kInvalidArgument if the text has no sort key.
inline absl::StatusOr<std::vector<SortKey>> ParseSortKeys(std::string_view text) {
  PROFILER_ASSIGN_OR_RETURN(const FieldList list, ParseFields(text));
  std::vector<SortKey> keys = KeysOf(list.fields);
  if (keys.empty()) return absl::InvalidArgumentError("no sort key");
  return keys;
}

}  // namespace profiler::report

// Reads the text of a configuration file, which is written as for git and perf:
//
//   # a comment
//   [report]
//       children = false
//       sort_order = "dso,symbol"   ; the key report.sort_order
//   [color]
//       ui                          # without a value: true
//
// Documented in git-config(1), "Syntax"; perf reads the same in tools/perf/util/config.c (Linux 6.12).

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace profiler::config {

struct Setting {
  std::string key;  // SECTION.NAME or SECTION.SUBSECTION.NAME; section and name in small letters
  std::string value;
  size_t line = 0;  // line of the key, from 1

  bool operator==(const Setting&) const = default;
};

// Returns the settings in the order of the text. A key that occurs again counts again; the last one
// is meant. Error: kInvalidArgument for the first line that is malformed; the message begins with
// "LINE: ".
absl::StatusOr<std::vector<Setting>> ParseConfig(std::string_view text);

// Reads true, yes, on or 1; false, no, off, 0 or nothing; in any case. Error: kInvalidArgument.
absl::StatusOr<bool> ParseSwitch(std::string_view text);

}  // namespace profiler::config

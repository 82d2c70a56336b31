// Labels that the owner of a machine gives it, such as "region=eu". Queries select samples by them.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace profiler::agent {

// Labels as in fleet::Window: sorted by key, each key once.
using HostLabels = std::vector<std::pair<std::string, std::string>>;

// Parses "KEY=VALUE" and adds it to `labels`; replaces an earlier value of the key. A key consists
// of letters, digits and ".", "_", "-", "/"; a value is any text on one line. Returns
// kInvalidArgument, which quotes the label, if it is malformed. A key is also invalid if it is the
// name of a field, such as "host" (fleet::ParseField).
absl::Status AddLabel(std::string_view text, HostLabels& labels);

// Adds the labels of a file, one per line; skips empty lines and lines that begin with '#'. Errors:
// those of open(2), and those of AddLabel with the file's name and the line.
absl::Status AddLabelsOf(const std::string& path, HostLabels& labels);

}  // namespace profiler::agent

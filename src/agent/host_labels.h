// What a machine's owner says of it, to tell its samples from others by: "region=eu".

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace profiler::agent {

// As fleet::Window has them: sorted by key, each key once.
using HostLabels = std::vector<std::pair<std::string, std::string>>;

// Reads "KEY=VALUE" into `labels`; a later one replaces an earlier one of its key. A key is made of
// letters, digits and ".", "_", "-", "/"; a value may be anything in one line. kInvalidArgument
// quotes what is wrong, also a key that is the name of something else that samples have
// (fleet::ParseField).
absl::Status AddLabel(std::string_view text, HostLabels& labels);

// The same for a file, a label a line; empty lines, and those that begin with '#', are passed over.
// Errors: those of open(2); kInvalidArgument with the file's name and the line.
absl::Status AddLabelsOf(const std::string& path, HostLabels& labels);

}  // namespace profiler::agent

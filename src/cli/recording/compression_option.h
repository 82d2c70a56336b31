// The option -z[LEVEL], --compression-level[=LEVEL], which several sub-commands share.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"

namespace profiler::cli {

class CompressionOption {
 public:
  // Adds the option to `command`, which this object must outlive.
  void AddTo(usage::Command& command, const std::string& description);

  bool given() const { return option_.Count() > 0; }

  // Returns the level: 0 if the option was not given, 1 if it was given without a level. If the
  // word after -z is no number (`-z ls`), it does not belong to the option, and is put in front of
  // `words`. Returns kInvalidArgument for a level that zstd does not have.
  absl::StatusOr<int> Level(std::vector<std::string>& words) const;

 private:
  usage::Option option_;
  std::string text_;
};

}  // namespace profiler::cli

// -z[LEVEL] and --compression-level[=LEVEL], as several sub-commands have it.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

class CompressionOption {
 public:
  // Adds the option to `command`. This object must live as long as that.
  void AddTo(usage::Command& command, const std::string& description);

  bool given() const { return option_.Count() > 0; }

  // 0 when it was not given, 1 without a level, else the level. A word behind -z that is no number
  // is none of the option's (`-z ls`): it is put in front of `words`. kInvalidArgument for a level
  // that zstd does not have.
  absl::StatusOr<int> Level(std::vector<std::string>& words) const;

 private:
  usage::Option option_;
  std::string text_;
};

}  // namespace profiler::cli

// -z[LEVEL] and --compression-level[=LEVEL], as several sub-commands have it.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/base/status.h"

namespace profiler::cli {

class CompressionOption {
 public:
  // Adds the option to `command`. This object must live as long as that.
  void AddTo(CLI::App& command, const std::string& description);

  bool given() const { return option_->count() > 0; }

  // 0 when it was not given, 1 without a level, else the level. A word behind -z that is no number
  // is none of the option's (`-z ls`): it is put in front of `words`. kInvalidArgument for a level
  // that zstd does not have.
  absl::StatusOr<int> Level(std::vector<std::string>& words) const;

 private:
  CLI::Option* option_ = nullptr;
  std::string text_;
};

}  // namespace profiler::cli

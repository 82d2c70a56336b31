#include "src/cli/perf_options.h"

namespace profiler::cli {

IgnoredOption AddIgnoredOption(usage::Command& command, const std::string& names, const char* value,
                               const std::string& why) {
  const std::string text = "accepted and ignored: " + why;
  const usage::Option option = value == nullptr ? command.AddFlag(names, text)
                                                : command.AddOption(names, text).ValueName(value);
  return {option, why};
}

}  // namespace profiler::cli

// Adds the options of the configuration file to a command line.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/config/config_keys.h"
#include "src/cli/usage/command_line.h"

namespace profiler::config {

// Words that the file adds behind the name of the command.
struct AddedWords {
  std::string path;  // the file
  std::string command;
  std::vector<Default> options;
  std::vector<std::string> warnings;

  // Returns the words of the user with all added ones, or with the one of index `only`.
  std::vector<std::string> With(std::vector<std::string> words,
                                std::optional<size_t> only = std::nullopt) const;
  // Returns a line for a user who has not typed these options.
  std::string Note() const;
  // Returns the error for the option of that index. `why` is the parser's message.
  absl::Status Refused(size_t index, const std::string& why) const;
};

// Reads the configuration file for the command that was given, and sets $PROFILER_PAGER if the file
// names a pager and the environment does not. `general` are the given options of the program,
// `words` all words of the user. Adds nothing for commands that do not read the file, and for
// --json. Errors: those of ReadConfigFile; kInvalidArgument ("PATH:LINE: …") for a wrong value.
absl::StatusOr<AddedWords> AddConfigWords(const usage::Command& command,
                                          const std::vector<usage::Option>& general,
                                          const std::vector<std::string>& words);

}  // namespace profiler::config

// Finds and reads the user's configuration file: $XDG_CONFIG_HOME/profiler/config, or else
// $HOME/.config/profiler/config.
//
// Only files of root and of the effective user count. So `sudo profiler` reads nothing below the
// home directory of the caller.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/config/config_text.h"

namespace profiler::config {

// Returns the value of an environment variable; "" if it is not set.
using Environment = std::function<std::string(const char* name)>;

struct ConfigFile {
  std::string path;     // empty: neither $XDG_CONFIG_HOME nor $HOME names a directory
  std::string ignored;  // reason why the file is not read; empty if it is, or if there is none
  std::vector<Setting> settings;
};

// Reads the file, at most 1 MB. A file that does not exist has no settings; a directory of another
// user is ignored. Errors: those of ParseConfig, with the path in front ("PATH:LINE: …");
// kPermissionDenied for a file of another user, or one that others may write, in the user's own
// directory; those of open(2) and read(2).
absl::StatusOr<ConfigFile> ReadConfigFile(const Environment& environment);

// Reads the file that the environment of this process names.
absl::StatusOr<ConfigFile> ReadConfigFile();

}  // namespace profiler::config

#include "src/cli/views/naming_arguments.h"

#include <string>

#include "absl/strings/str_split.h"
#include "src/base/file_systems.h"
#include "src/cli/recording/naming_monitor.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {

void AddFilePlaceOptions(usage::Command& command, naming::FilePlaces& places) {
  command
      .AddOption("--symfs", places.symfs,
                 "look for all files below this directory, including the kernel's")
      .ValueName("DIR");
  command
      .AddOption("--debug-dir", places.debug_directories,
                 "look for debug files here, by build-id, instead of /usr/lib/debug; may be given "
                 "several times")
      .ValueName("DIR")
      .OneValueEach();
  AddCacheOption(command, places.no_cache);
  AddSandboxOption(command, places.no_sandbox);
}

void AddCacheOption(usage::Command& command, bool& no_cache) {
  command.AddFlag(
      "--no-cache", no_cache,
      "neither use nor write the cache of source lines and inlined calls in ~/.cache/profiler");
}

void AddSandboxOption(usage::Command& command, bool& no_sandbox) {
  command.AddFlag(
      "--no-sandbox", no_sandbox,
      "read symbols and debug information in this process instead of a sandbox without rights");
  command
      .AddOption(
          "--trust-fs",
          [](const std::string& names) {
            for (const absl::string_view name : absl::StrSplit(names, ',', absl::SkipEmpty())) {
              TrustFileSystem(std::string(name));
            }
            return absl::OkStatus();
          },
          "also open images on file systems of these types; a warning names them")
      .ValueName("NAME,…");
}

void AddFetchOptions(usage::Command& command, naming::FetchOptions& options) {
  options.warn = PrintWarning;
  if (ErrorsAreShownLive()) options.watch = WatchFetching;
  command.AddFlag("--no-debuginfod", options.off,
                  "do not fetch files from the servers of $DEBUGINFOD_URLS");
  command
      .AddOption("--debuginfod-timeout", options.seconds,
                 "fetch files for at most this time in total")
      .InRange(0.0, 86400.0)
      .ValueName("SECONDS")
      .ShowDefault();
  command
      .AddOption("--debuginfod-size", options.bytes,
                 "fetch at most this many bytes in total (default 512M)")
      .AsSize()
      .ValueName("BYTES|K|M|G");
}

}  // namespace profiler::cli

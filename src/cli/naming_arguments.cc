#include "src/cli/naming_arguments.h"

#include "src/cli/naming_monitor.h"
#include "src/cli/output.h"

namespace profiler::cli {

void AddFilePlaceOptions(CLI::App& command, naming::FilePlaces& places) {
  command
      .add_option(
          "--symfs", places.symfs,
          "look for all files, those of this machine's kernel included, below this directory")
      ->type_name("DIR");
  command
      .add_option("--debug-dir", places.debug_directories,
                  "look for debug files here, by build-id, instead of /usr/lib/debug; may be given "
                  "several times")
      ->type_name("DIR")
      ->allow_extra_args(false);
  AddCacheOption(command, places.no_cache);
  AddSandboxOption(command, places.no_sandbox);
}

void AddCacheOption(CLI::App& command, bool& no_cache) {
  command.add_flag(
      "--no-cache", no_cache,
      "read debug information again instead of taking the lines and inlined calls that "
      "were found before from ~/.cache/profiler, and keep nothing there");
}

void AddSandboxOption(CLI::App& command, bool& no_sandbox) {
  command.add_flag("--no-sandbox", no_sandbox,
                   "read the files that names come from in this process, with all its rights, "
                   "instead of in one that has none");
}

void AddFetchOptions(CLI::App& command, naming::FetchOptions& options) {
  options.warn = PrintWarning;
  if (ErrorsAreShownLive()) options.watch = WatchFetching;
  command.add_flag("--no-debuginfod", options.off,
                   "fetch no files from the servers of $DEBUGINFOD_URLS");
  command
      .add_option("--debuginfod-timeout", options.seconds,
                  "how long files may take to come from there, all together")
      ->check(CLI::Range(0.0, 86400.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--debuginfod-size", options.bytes,
                  "how much may be fetched from there, all together (default 512M)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES|K|M|G");
}

}  // namespace profiler::cli

// Asks debuginfod servers for the files that names would come from and that are not here.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/perf_data/recording.h"
#include "src/profile/profile_builder.h"
#include "symbolize/fetched_files.h"
#include "symbolize/symbolizer.h"

namespace profiler::cli {

struct FetchOptions {
  bool off = false;
  double seconds = 30;                   // for all files together
  uint64_t bytes = uint64_t{512} << 20;  // likewise
};

// --no-debuginfod, --debuginfod-timeout and --debuginfod-size. `options` must outlive the parsing.
void AddFetchOptions(CLI::App& command, FetchOptions& options);

// Whether there are servers to ask ($DEBUGINFOD_URLS). Where not, nothing here touches the network
// or loads what does.
bool FetchesFiles(const FetchOptions& options);

// Fetches what a symbolizer with options `files` would miss of the images that have a hundredth of
// the samples. Shows how it goes, if standard error is a terminal; Ctrl-C there skips the image
// that is shown. Prints a line for each image that there was trouble with.
symbolize::FetchedFiles FetchMissingFiles(
    const FetchOptions& options, const symbolize::SymbolizerOptions& files,
    const symbolize::Symbolizer& symbolizer,
    const std::vector<profile::ProfileBuilder::ImageShare>& images);

// The same for a recording that is yet to be read: reads it once more, if it is no pipe.
symbolize::FetchedFiles FetchFilesOfRecording(const FetchOptions& options,
                                              const symbolize::SymbolizerOptions& files,
                                              const std::string& path);

}  // namespace profiler::cli

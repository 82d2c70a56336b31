// Asks debuginfod servers for the files that names would come from and that are not here.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/perf_data/format/features.h"
#include "src/profile/profile_builder.h"
#include "symbolize/symbolizer.h"

namespace profiler::cli {

struct NamingOptions;

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

// Fetches into `naming.fetched` what is missing of the images that have a hundredth of the samples,
// unless the recording, whose features these are, has their lines (their names, if no inlined calls
// are wanted). Shows how it goes, if standard error is a terminal; Ctrl-C there skips the image
// that is shown. Prints a line for each image that there was trouble with.
void FetchMissingFiles(const NamingOptions& naming, const perf_data::Features& features,
                       const symbolize::Symbolizer& symbolizer,
                       const std::vector<profile::ImageShare>& images);

// The same for a recording that is yet to be read: reads it once more, if it is no pipe.
void FetchFilesOfRecording(const NamingOptions& naming, const std::string& path);

}  // namespace profiler::cli

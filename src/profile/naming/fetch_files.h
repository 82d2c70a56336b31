// Fetches missing files with symbols and debug information from debuginfod servers.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_data/format/features.h"
#include "src/profile/name_profile.h"
#include "src/profile/naming/naming.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// Returns the servers ($DEBUGINFOD_URLS); empty: none.
std::string_view DebugServers();

// True if there are servers to ask. Otherwise this library neither uses the network nor loads code
// for it.
bool FetchesFiles(const FetchOptions& options);

// Fetches the missing files of images with at least a hundredth of the samples into
// `naming.fetched`. Leaves out an image if the recording with these features already has the
// image's lines. If no inlined calls are wanted, the image's names suffice. Reports progress to the
// monitor, and each image with a problem to `naming.fetch.warn`.
void FetchMissingFiles(const NamingOptions& naming, const perf_data::Features& features,
                       const symbolize::Symbolizer& symbolizer,
                       const std::vector<profile::ImageShare>& images);

// Fetches files for a recording that is not read yet: reads it one additional time, unless it is a
// pipe.
void FetchFilesOfRecording(const NamingOptions& naming, const std::string& path);

}  // namespace profiler::naming

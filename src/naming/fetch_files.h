// Asks debuginfod servers for the files that names would come from and that are not here.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/naming/naming.h"
#include "src/perf_data/format/features.h"
#include "src/profile/name_profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// The servers to ask ($DEBUGINFOD_URLS); empty: there are none.
std::string_view DebugServers();

// Whether there are servers to ask. Where not, nothing here touches the network
// or loads what does.
bool FetchesFiles(const FetchOptions& options);

// Fetches into `naming.fetched` what is missing of the images that have a hundredth of the samples,
// unless the recording, whose features these are, has their lines (their names, if no inlined calls
// are wanted). Who watches is told how it goes, and `naming.fetch.warn` of each image that there
// was trouble with.
void FetchMissingFiles(const NamingOptions& naming, const perf_data::Features& features,
                       const symbolize::Symbolizer& symbolizer,
                       const std::vector<profile::ImageShare>& images);

// The same for a recording that is yet to be read: reads it once more, if it is no pipe.
void FetchFilesOfRecording(const NamingOptions& naming, const std::string& path);

}  // namespace profiler::naming

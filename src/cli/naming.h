// Where names come from: the recording itself, then files.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/cli/fetch_files.h"
#include "src/perf_data/format/features.h"
#include "src/profile/profile.h"
#include "symbolize/embedded_symbolizer.h"
#include "symbolize/symbolizer.h"

namespace profiler::cli {

// Other places to look for files in.
struct FilePlaces {
  std::string symfs;                           // empty: /
  std::vector<std::string> debug_directories;  // empty: the usual one
  bool no_cache = false;                       // of names (symbolize/name_cache.h)

  bool given() const { return !symfs.empty() || !debug_directories.empty(); }
};

// --symfs, --debug-dir and --no-cache.
void AddFilePlaceOptions(CLI::App& command, FilePlaces& places);
void AddCacheOption(CLI::App& command, bool& no_cache);

struct NamingOptions {
  bool demangle = true;
  bool inlines = true;
  bool lines = true;            // with inlines; see symbolize::SymbolizerOptions
  bool function_starts = true;  // see symbolize::SymbolizerOptions
  bool bounded_symbols = true;  // likewise
  FilePlaces places;
  FetchOptions fetch;
  // What was fetched, for names yet to be looked up.
  std::shared_ptr<symbolize::FetchedFiles> fetched = std::make_shared<symbolize::FetchedFiles>();
};

symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options);

// Names from a recording with these features, and from files what it does not say. Where the user
// names places, files there name what the recording has no name for, too; where debuginfod servers
// are asked, files may know better than the recording.
std::unique_ptr<symbolize::Symbolizer> MakeSymbolizer(const perf_data::Features& features,
                                                      const NamingOptions& options);
std::unique_ptr<symbolize::Symbolizer> MakeSymbolizer(const perf_data::Features& features,
                                                      const NamingOptions& options,
                                                      symbolize::EmbeddedOptions::Files files);

// What `symbolizer`, of one of these, says, and of the code that the recording carries (archive
// --embed code) that. To be asked for code when all addresses are named: reading it takes a while.
std::unique_ptr<symbolize::Symbolizer> WithEmbeddedCode(
    std::unique_ptr<symbolize::Symbolizer> symbolizer, const perf_data::Features& features,
    const NamingOptions& options);
std::unique_ptr<symbolize::Symbolizer> WithEmbeddedCode(
    std::unique_ptr<symbolize::Symbolizer> symbolizer, const perf_data::Features& features,
    const NamingOptions& options, symbolize::EmbeddedOptions::Files files);

// A line for each file that was not used because it is another build than the recorded one.
void PrintRefusedFiles(const profile::Profile& profile);

}  // namespace profiler::cli

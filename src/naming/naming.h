// Where names come from: the recording itself, then files.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/perf_data/format/features.h"
#include "src/profile/profile.h"
#include "symbolize/files/debug_fetch.h"
#include "symbolize/names/name_store.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// Other places to look for files in.
struct FilePlaces {
  std::string symfs;     // empty: /
  std::string kallsyms;  // of the recorded kernel; empty: this machine's, where that is it
  std::vector<std::string> debug_directories;  // empty: the usual one
  bool no_cache = false;                       // of names (symbolize/names/name_cache.h)
  // This process reads files itself (else symbolize/confined/confined_facts.h).
  bool no_sandbox = false;

  bool given() const { return !symfs.empty() || !debug_directories.empty() || !kallsyms.empty(); }
};

struct FetchOptions {
  bool off = false;
  double seconds = 30;                   // for all files together
  uint64_t bytes = uint64_t{512} << 20;  // likewise
  // Called when there is something to fetch; what it returns lives until that is over. Without it
  // nobody watches.
  std::function<symbolize::FetchMonitor()> watch;
  // Told of each image that there was trouble with, in a line.
  std::function<void(std::string_view)> warn;
};

struct NamingOptions : symbolize::PresentOptions {
  bool lines = true;  // with inlines; see symbolize::SymbolizerOptions
  FilePlaces places;
  FetchOptions fetch;
  // Told of each image whose file could not be read, in a line.
  std::function<void(std::string_view)> warn;
  // What was fetched, for names yet to be looked up.
  std::shared_ptr<symbolize::FetchedFiles> fetched = std::make_shared<symbolize::FetchedFiles>();
  // What files name beside a recording with names. Unless said: where the user names places, files
  // there name what the recording has no name for, too; where debuginfod servers are asked, files
  // may know better than the recording; else they name what the recording says nothing of.
  std::optional<symbolize::FilesName> files_name;
  // True if the recording was just made here, or a process that runs here is named.
  bool is_this_machine = false;
  // Files that the recorder has open still; null: this is none that was made here and now.
  std::shared_ptr<const symbolize::KeptFiles> kept;
};

// For a recording with these features: they say which kernel's names may be used.
symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options,
                                                 const perf_data::Features& features);

// Facts from files alone, which another process reads unless `options` say otherwise.
std::unique_ptr<symbolize::FactSource> FactsOfFiles(const NamingOptions& options,
                                                    const perf_data::Features& features);

// Names from a recording with these features, from the user's cache, and from files what those do
// not say. What files said goes into the cache with SaveToCache, which the caller calls when it has
// all names.
std::unique_ptr<symbolize::NameStore> MakeNameStore(const perf_data::Features& features,
                                                    const NamingOptions& options);

// Adds the code that the recording carries (archive --embed code). To be called when all addresses
// are named, by who asks for code: reading it takes a while.
void AddRecordedCode(const perf_data::Features& features, symbolize::NameStore& names);

// What is to be said of files that were not used because they are another build than the recorded
// one: a line for the only one, or for all together; with `lists_each`, for each.
std::vector<std::string> RefusedFiles(const profile::Profile& profile, bool lists_each = false);

}  // namespace profiler::naming

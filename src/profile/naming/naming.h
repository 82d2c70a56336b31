// Sets up the sources of names: the recording itself, the cache, and files.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_data/format/features.h"
#include "src/profile/profile.h"
#include "symbolize/files/debug_fetch.h"
#include "symbolize/names/name_store.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// The user's options for finding files.
struct FilePlaces {
  std::string symfs;  // directory that takes the place of /; empty: /
  // File with the symbols of the recorded kernel. Empty: use this machine's symbols if its kernel
  // is the recorded one.
  std::string kallsyms;
  std::string vmlinux;  // the recorded kernel's own file; empty: looked for at the usual paths
  // Directories with separate debug files; empty: the usual directory.
  std::vector<std::string> debug_directories;
  bool no_cache = false;  // True: no cache of names (symbolize/names/name_cache.h).
  // True: this process reads files itself instead of a confined one
  // (symbolize/confined/confined_facts.h).
  bool no_sandbox = false;

  bool given() const {
    return !symfs.empty() || !debug_directories.empty() || !kallsyms.empty() || !vmlinux.empty();
  }
};

struct FetchOptions {
  bool off = false;
  double seconds = 30;                   // limit for fetching all files together
  uint64_t bytes = uint64_t{512} << 20;  // limit for the sizes of all files together
  // Called when there is something to fetch. The returned monitor exists until the fetching ends.
  // Empty: no monitor.
  std::function<symbolize::FetchMonitor()> watch;
  // Called with a line for each image with a problem.
  std::function<void(std::string_view)> warn;
};

struct NamingOptions : symbolize::PresentOptions {
  bool lines = true;  // used only with `inlines`; see symbolize::SymbolizerOptions::lines
  FilePlaces places;
  FetchOptions fetch;
  // Called with a line for each image whose file could not be read.
  std::function<void(std::string_view)> warn;
  // The fetched files, which all later look-ups use.
  std::shared_ptr<symbolize::FetchedFiles> fetched = std::make_shared<symbolize::FetchedFiles>();
  // The addresses that files name if the recording itself has names. Unset: kFirst with debuginfod
  // servers, because their files may have better names. Otherwise kUnnamed with the user's own
  // directories, which then name only addresses without a recorded name. Otherwise kOthers.
  std::optional<symbolize::FilesName> files_name;
  // True if this machine has just made the recording, or if a running process is named.
  bool is_this_machine = false;
  // Files that the recorder still has open; null if the recording was not made by this process.
  std::shared_ptr<const symbolize::KeptFiles> kept;
};

// Returns the options for a recording with these features, which decide which kernel's names may be
// used.
symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options,
                                                 const perf_data::Features& features);

// Returns facts only from files. A confined process reads them, unless `options` say otherwise.
std::unique_ptr<symbolize::FactSource> FactsOfFiles(const NamingOptions& options,
                                                    const perf_data::Features& features);

// Returns a store that looks for names first in the recording that has these features, then in the
// user's cache, and then in files. When the caller has all names, it calls SaveToCache to store the
// names that came from files.
std::unique_ptr<symbolize::NameStore> MakeNameStore(const perf_data::Features& features,
                                                    const NamingOptions& options);

// Adds the code that the recording carries (archive --embed code). Call it after naming all
// addresses, and only if code is needed, because reading it takes a while.
void AddRecordedCode(const perf_data::Features& features, symbolize::NameStore& names);

// Returns lines about files that were not used because their build differs from the recorded one.
// All files share one line; with `lists_each`, each has its own.
std::vector<std::string> RefusedFiles(const profile::Profile& profile, bool lists_each = false);

}  // namespace profiler::naming

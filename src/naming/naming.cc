#include "src/naming/naming.h"

#include <unistd.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/naming/fetch_files.h"
#include "src/naming/imported_images.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"
#include "src/procfs/machine.h"
#include "symbolize/confined/confined_facts.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/names/name_cache.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {

namespace {

// Debug information is what takes long to read; and in other places than the usual ones may be
// other debug information.
bool UsesCache(const NamingOptions& options) {
  return !options.places.no_cache && !options.places.given() && options.inlines;
}

symbolize::FilesName WhatFilesName(const NamingOptions& options) {
  using symbolize::FilesName;
  if (options.files_name) return *options.files_name;
  if (FetchesFiles(options.fetch)) return FilesName::kFirst;
  return options.places.given() ? FilesName::kUnnamed : FilesName::kOthers;
}

// Root, and the owner of capabilities: a copy of the program may have some (setcap(8)).
bool MayDoMoreThanOthers() {
  return geteuid() == 0 || procfs::PermittedCapabilities(procfs::Roots()) != 0;
}

}  // namespace

symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options) {
  symbolize::SymbolizerOptions files;
  static_cast<symbolize::PresentOptions&>(files) = options;
  files.lines = options.lines;
  if (!options.places.symfs.empty()) files.LookBelow(options.places.symfs);
  if (!options.places.debug_directories.empty()) {
    files.debug_directories = options.places.debug_directories;
  }
  if (!options.places.kallsyms.empty()) {
    files.kallsyms_path = options.places.kallsyms;
    files.kallsyms_is_recorded = true;
  }
  files.fetched = options.fetched;
  files.kept = options.kept;
  return files;
}

// What such a process reads may be anybody's, and whoever takes it over may do what it may.
std::unique_ptr<symbolize::FactSource> FactsOfFiles(const NamingOptions& options) {
  const symbolize::SymbolizerOptions files = SymbolizerOptionsOf(options);
  if (options.places.no_sandbox) return symbolize::CreateFileFacts(files);
  return symbolize::CreateConfinedFacts(files,
                                        {.required = MayDoMoreThanOthers(), .warn = options.warn});
}

std::unique_ptr<symbolize::NameStore> MakeNameStore(const perf_data::Features& features,
                                                    const NamingOptions& options) {
  symbolize::NameSources sources;
  sources.files = FactsOfFiles(options);
  const bool is_imported = perf_data::ReadImported(features).has_value();
  if (is_imported) sources.files = OnlyFilesWithBuildId(std::move(sources.files));
  sources.recorded =
      symbolize::DecodeNames(perf_data::OwnSection(features, perf_data::kFeatureNames));
  if (UsesCache(options) && !is_imported) {
    sources.cache.emplace(symbolize::NameCache::UsersDirectory(options.lines));
  }
  sources.files_name = WhatFilesName(options);
  return std::make_unique<symbolize::NameStore>(std::move(sources), options);
}

void AddRecordedCode(const perf_data::Features& features, symbolize::NameStore& names) {
  auto code = symbolize::DecodeCode(perf_data::OwnSection(features, perf_data::kFeatureCode));
  if (code) names.AddCode(*std::move(code));
}

std::vector<std::string> RefusedFiles(const profile::Profile& profile, bool lists_each) {
  std::map<profile::DsoId, size_t> refused;  // with how many addresses
  for (const profile::Frame& frame : profile.frames) {
    if (frame.unnamed == profile::Unnamed::kBuildIdMismatch) ++refused[frame.dso];
  }
  if (!lists_each && refused.size() > 1) {
    size_t all = 0;
    for (const auto& [id, addresses] : refused) all += addresses;
    return {absl::StrCat(refused.size(),
                         " images are another build now than the one recorded: no names are taken "
                         "from their files, ",
                         all, " addresses have none (`profiler report -v` lists them)")};
  }
  std::vector<std::string> lines;
  for (const auto& [id, addresses] : refused) {
    const profile::Dso& dso = profile[id];
    const std::string recorded = dso.build_id.empty()
                                     ? "a file that was deleted"
                                     : absl::StrCat("build-id ", HexOf(dso.build_id));
    lines.push_back(absl::StrCat(View(profile.text(dso.long_name)),
                                 " is another build now than the one recorded (", recorded,
                                 "): no names are taken from it, ", addresses,
                                 addresses == 1 ? " address has" : " addresses have", " none"));
  }
  return lines;
}

}  // namespace profiler::naming

#include "src/profile/naming/naming.h"

#include <unistd.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/machine/procfs/machine.h"
#include "src/profile/naming/fetch_files.h"
#include "src/profile/naming/imported_images.h"
#include "src/profile/naming/recorded_machine.h"
#include "symbolize/confined/confined_facts.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/names/name_cache.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {

namespace {

// True if the cache may be used. The cache saves reading debug information, which takes long;
// without inlines it is not worth it. The user's own directories may have other debug information
// than the cache.
bool UsesCache(const NamingOptions& options) {
  return !options.places.no_cache && !options.places.given() && options.inlines;
}

symbolize::FilesName WhatFilesName(const NamingOptions& options) {
  using symbolize::FilesName;
  if (options.files_name) return *options.files_name;
  if (FetchesFiles(options.fetch)) return FilesName::kFirst;
  return options.places.given() ? FilesName::kUnnamed : FilesName::kOthers;
}

// True for root and with capabilities, which a copy of the program may have (setcap(8)).
bool MayDoMoreThanOthers() {
  return geteuid() == 0 || procfs::PermittedCapabilities(procfs::Roots()) != 0;
}

}  // namespace

symbolize::SymbolizerOptions SymbolizerOptionsOf(const NamingOptions& options,
                                                 const perf_data::Features& features) {
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
  files.vmlinux = options.places.vmlinux;
  files.fetched = options.fetched;
  files.kept = options.kept;
  if (!options.is_this_machine) TellRecordedMachine(features, &files);
  return files;
}

// Confinement is required if this process has more rights than others: the files may have any
// content, and an attacker who takes over the reading process gains its rights.
std::unique_ptr<symbolize::FactSource> FactsOfFiles(const NamingOptions& options,
                                                    const perf_data::Features& features) {
  const symbolize::SymbolizerOptions files = SymbolizerOptionsOf(options, features);
  if (options.places.no_sandbox) return symbolize::CreateFileFacts(files);
  return symbolize::CreateConfinedFacts(files,
                                        {.required = MayDoMoreThanOthers(), .warn = options.warn});
}

std::unique_ptr<symbolize::NameStore> MakeNameStore(const perf_data::Features& features,
                                                    const NamingOptions& options) {
  symbolize::NameSources sources;
  sources.files = FactsOfFiles(options, features);
  const bool is_imported = perf_data::ReadImported(features).has_value();
  if (is_imported) sources.files = OnlyFilesWithBuildId(std::move(sources.files));
  sources.recorded =
      symbolize::DecodeNames(perf_data::OwnSection(features, perf_data::kFeatureNames));
  if (UsesCache(options) && !is_imported) {
    sources.cache.emplace(symbolize::NameCache::UsersDirectory(options.lines));
  }
  sources.files_name = WhatFilesName(options);
  // An imported profile has an entry for each of its addresses, even if an address has no name. So
  // unnamed addresses must be looked up too. Only files with the profile's build-ids are used.
  if (is_imported && sources.files_name == symbolize::FilesName::kOthers) {
    sources.files_name = symbolize::FilesName::kUnnamed;
  }
  return std::make_unique<symbolize::NameStore>(std::move(sources), options);
}

void AddRecordedCode(const perf_data::Features& features, symbolize::NameStore& names) {
  auto code = symbolize::DecodeCode(perf_data::OwnSection(features, perf_data::kFeatureCode));
  if (code) names.AddCode(*std::move(code));
}

namespace {

bool IsOfKernel(symbolize::ImageKind kind) {
  return kind == symbolize::ImageKind::kKernel || kind == symbolize::ImageKind::kModule ||
         kind == symbolize::ImageKind::kVdso;
}

std::string Addresses(size_t count) {
  return absl::StrCat(count, count == 1 ? " address has" : " addresses have", " none");
}

// Returns one line for the kernel and its modules, because they have one cause and one remedy.
std::string RefusedKernel(const profile::Profile& profile,
                          const std::map<profile::ImageId, size_t>& refused) {
  size_t addresses = 0;
  std::string build_id;
  for (const auto& [id, count] : refused) {
    const profile::Image& image = profile[id];
    if (!IsOfKernel(image.kind)) continue;
    addresses += count;
    if (image.kind == symbolize::ImageKind::kKernel) build_id = HexOf(image.build_id);
  }
  if (addresses == 0) return {};
  const std::string why =
      build_id.empty()
          ? "nothing proves that the kernel that runs here is the recorded one"
          : absl::StrCat("another kernel runs here than was recorded (build-id ", build_id, ")");
  return absl::StrCat(why, ": no names are taken from it, ", Addresses(addresses),
                      "; give that kernel's symbols with --kallsyms FILE, or run `profiler "
                      "archive` where the recording was made");
}

std::string RecordedAs(const profile::Profile& profile, const profile::Image& image) {
  if (!image.build_id.empty()) return absl::StrCat("build-id ", HexOf(image.build_id));
  const std::string_view path = profile.text(image.long_name);
  if (path.ends_with(" (deleted)")) return "a file that was deleted";
  return "a file without build-id, of another inode or older; --symfs / takes it all the same";
}

}  // namespace

std::vector<std::string> RefusedFiles(const profile::Profile& profile, bool lists_each) {
  std::map<profile::ImageId, size_t> refused;  // number of addresses by image
  for (const profile::Frame& frame : profile.frames) {
    if (frame.unnamed == profile::Unnamed::kBuildIdMismatch) ++refused[frame.image];
  }
  std::vector<std::string> lines;
  if (std::string kernel = RefusedKernel(profile, refused); !kernel.empty()) {
    lines.push_back(std::move(kernel));
  }
  std::erase_if(refused, [&](const auto& entry) { return IsOfKernel(profile[entry.first].kind); });
  if (!lists_each && refused.size() > 1) {
    size_t all = 0;
    for (const auto& [id, addresses] : refused) all += addresses;
    lines.push_back(
        absl::StrCat(refused.size(),
                     " images are another build now than the one recorded: no names are taken "
                     "from their files, ",
                     all, " addresses have none (`profiler report -v` lists them)"));
    return lines;
  }
  for (const auto& [id, addresses] : refused) {
    const profile::Image& image = profile[id];
    lines.push_back(absl::StrCat(
        View(profile.text(image.long_name)), " is another build now than the one recorded (",
        RecordedAs(profile, image), "): no names are taken from it, ", Addresses(addresses)));
  }
  return lines;
}

}  // namespace profiler::naming

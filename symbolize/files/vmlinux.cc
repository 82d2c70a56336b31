#include "symbolize/files/vmlinux.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

// Returns the release of the running kernel; empty: unknown.
std::string RunningRelease(const SymbolizerOptions& options) {
  constexpr size_t kLongestRelease = 1 << 10;
  const auto text = ReadTextFile(options.proc_path + "/sys/kernel/osrelease", kLongestRelease);
  if (!text.ok()) return {};
  const std::string_view line = TextOf(*text);
  return std::string(line.substr(0, line.find_first_of(std::string_view("\n\0", 2))));
}

std::vector<std::string> CandidatesFor(std::span<const std::byte> build_id,
                                       const SymbolizerOptions& options) {
  std::vector<std::string> paths;
  if (!options.vmlinux.empty()) paths.push_back(options.vmlinux);
  if (build_id.size() < 2) return paths;
  for (const std::string& directory : options.debug_directories) {
    paths.push_back(BuildIdPath(directory, build_id) + ".debug");
  }
  for (const std::string& cache : options.build_id_caches) {
    paths.push_back(BuildIdPath(cache, build_id) + "/vmlinux");
    paths.push_back(BuildIdPath(cache, build_id) + "/elf");
  }
  const std::string release = RunningRelease(options);
  if (release.empty()) return paths;
  for (const std::string& directory : options.debug_directories) {
    paths.push_back(absl::StrCat(directory, "/boot/vmlinux-", release));
    paths.push_back(absl::StrCat(directory, "/lib/modules/", release, "/vmlinux"));
  }
  paths.push_back(absl::StrCat(options.symfs, "/boot/vmlinux-", release));
  paths.push_back(absl::StrCat(options.symfs, "/lib/modules/", release, "/build/vmlinux"));
  return paths;
}

}  // namespace

std::optional<ImageFile> OpenVmlinux(std::span<const std::byte> build_id,
                                     const SymbolizerOptions& options) {
  for (const std::string& path : CandidatesFor(build_id, options)) {
    absl::StatusOr<ImageFile> file = OpenElf(path);
    if (!file.ok()) continue;
    if (!build_id.empty() && !SameBuildId(build_id, file->elf.build_id())) continue;
    if (HasSymtab(file->elf) || dwarf::HasDebugInfo(file->elf)) return *std::move(file);
  }
  return std::nullopt;
}

std::vector<std::string> PathsOfCachedKallsyms(std::span<const std::byte> build_id,
                                               const SymbolizerOptions& options) {
  std::vector<std::string> paths;
  for (const std::string& cache : options.build_id_caches) {
    paths.push_back(absl::StrCat(cache, "/[kernel.kallsyms]/", HexOf(build_id), "/kallsyms"));
    paths.push_back(BuildIdPath(cache, build_id) + "/kallsyms");
  }
  return paths;
}

// Both symbols are at the start of .text, except if .head.text precedes it; then _text is there.
ElfAddress LinkedAddress(const ElfImage& vmlinux, std::string_view reference) {
  const ElfSection* const head = vmlinux.FindSection(".head.text");
  const ElfSection* const text = vmlinux.FindSection(".text");
  if (text == nullptr) return {};
  if (reference == "_stext") return {text->address};
  if (reference != "_text") return {};
  return {head != nullptr && head->address < text->address ? head->address : text->address};
}

}  // namespace profiler::symbolize

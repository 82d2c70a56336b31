#include "src/machine/events/static_probes.h"

#include <elf.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/machine/procfs/memory_map.h"
#include "src/machine/procfs/tasks.h"
#include "symbolize/elf/static_probes.h"
#include "symbolize/image_file.h"

namespace profiler::events {
namespace {

namespace fs = std::filesystem;
using symbolize::ElfImage;

// Limits for damaged or huge directories and processes.
constexpr size_t kMostEntries = 20'000;
constexpr size_t kMostFiles = 50'000;
// The kernel's field for the offset of a semaphore has 32 bits.
constexpr uint64_t kMostSemaphoreOffset = UINT32_MAX;

// True if a breakpoint at `address` replaces an instruction that does nothing. <sys/sdt.h> writes a
// nop; glibc 2.38 and later may have an endbr before it. Machines other than x86 and
// 64-bit ARM are not checked, because the kernel refuses addresses between their instructions.
bool HasNop(const ElfImage& elf, ElfAddress address) {
  const auto is_executable = [&](const symbolize::ElfSegment& segment) {
    return segment.executable && address >= segment.address &&
           address.value - segment.address.value < segment.file_size;
  };
  if (std::ranges::none_of(elf.segments(), is_executable)) return false;
  constexpr std::string_view kX86[] = {"\x90", "\x66\x90", "\x0f\x1f", "\xf3\x0f\x1e\xfa",
                                       "\xf3\x0f\x1e\xfb"};
  constexpr std::string_view kArm[] = {"\x1f\x20\x03\xd5"};
  const std::string_view code = TextOf(elf.BytesAt(address, 4));
  const auto begins = [&](std::string_view nop) { return code.starts_with(nop); };
  switch (elf.machine()) {
    case EM_X86_64:
    case EM_386:
      return std::ranges::any_of(kX86, begins);
    case EM_AARCH64:
      return std::ranges::any_of(kArm, begins);
    default:
      return true;
  }
}

// True if root or this user owns the regular file. `*id` becomes its device and inode.
bool IsTrusted(const std::string& path, std::pair<dev_t, ino_t>* id) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  *id = {file.st_dev, file.st_ino};
  return file.st_uid == 0 || file.st_uid == geteuid();
}

// Reads files, each once.
class Files {
 public:
  void Add(const std::string& path) {
    std::pair<dev_t, ino_t> id;
    if (seen_.size() >= kMostFiles || !IsTrusted(path, &id) || !seen_.insert(id).second) return;
    if (auto probes = ReadStaticProbes(path); probes.ok()) {
      std::ranges::move(*probes, std::back_inserter(found_));
    }
  }

  void AddDirectory(const std::string& directory) {
    std::error_code failed;
    size_t entries = 0;
    for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (++entries > kMostEntries) return;
      Add(at->path().string());
    }
  }

  // Adds the libraries below a directory.
  void AddTree(const std::string& directory) {
    std::error_code failed;
    size_t entries = 0;
    for (fs::recursive_directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (++entries > kMostEntries) return;
      if (absl::StrContains(at->path().filename().string(), ".so")) Add(at->path().string());
    }
  }

  // Adds the files that a process has mapped as code, if they are at the same path here.
  void AddProcess(const procfs::Roots& roots, pid_t pid) {
    std::set<std::pair<uint64_t, std::string>> mapped;
    (void)procfs::ReadLines(absl::StrCat(roots.proc, "/", pid, "/maps"),
                            [&](std::string_view line) {
                              const auto map = procfs::ParseMapsLine(line);
                              const bool is_code = map && (map->prot & PROT_EXEC) != 0;
                              if (is_code && map->name.starts_with('/')) {
                                mapped.emplace(map->ino, map->name);
                              }
                              return mapped.size() < kMostEntries;
                            });
    for (const auto& [inode, path] : mapped) {
      if (!looked_at_.emplace(inode, path).second) continue;
      struct stat file;
      if (stat(path.c_str(), &file) == 0 && file.st_ino == inode) Add(path);
    }
  }

  std::vector<StaticProbePlace> Take() { return std::move(found_); }

 private:
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::set<std::pair<uint64_t, std::string>> looked_at_;
  std::vector<StaticProbePlace> found_;
};

bool Matches(const StaticProbePlace& place, const NamedProbe& probe) {
  const auto fits = [](const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  return fits(probe.name, place.name) &&
         (fits(probe.provider, place.provider) || fits(probe.provider, "sdt_" + place.provider));
}

std::vector<StaticProbePlace> Matching(const std::vector<StaticProbePlace>& places,
                                       const NamedProbe& probe) {
  std::vector<StaticProbePlace> matching;
  for (const StaticProbePlace& place : places) {
    if (Matches(place, probe)) matching.push_back(place);
  }
  return matching;
}

}  // namespace

ProbeSearch SearchThisMachine() {
  ProbeSearch search;
  search.directories = {"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"};
  std::error_code failed;
  for (fs::directory_iterator at("/etc/ld.so.conf.d", failed), end; !failed && at != end;
       at.increment(failed)) {
    (void)procfs::ReadLines(at->path().string(), [&](std::string_view line) {
      if (line.starts_with('/')) search.directories.emplace_back(line);
      return true;
    });
  }
  const char* const path = std::getenv("PATH");
  for (const absl::string_view directory : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    if (absl::StartsWith(directory, "/")) search.directories.emplace_back(directory);
  }
  return search;
}

absl::StatusOr<std::vector<StaticProbePlace>> ReadStaticProbes(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return ErrnoStatus(errno, path);
  PROFILER_ASSIGN_OR_RETURN(const symbolize::ImageFile image, symbolize::OpenElf(resolved));
  std::vector<StaticProbePlace> places;
  for (const symbolize::StaticProbe& probe : symbolize::ReadStaticProbes(image.elf)) {
    const auto offset = image.elf.OffsetOf(probe.location);
    if (!offset || !HasNop(image.elf, probe.location)) continue;
    StaticProbePlace place{.path = resolved,
                           .provider = std::string(probe.provider),
                           .name = std::string(probe.name),
                           .arguments = std::string(probe.arguments),
                           .offset = offset->value};
    if (probe.semaphore) {
      const auto semaphore = image.elf.OffsetOf(*probe.semaphore);
      if (!semaphore || semaphore->value > kMostSemaphoreOffset) continue;
      place.semaphore_offset = semaphore->value;
    }
    places.push_back(std::move(place));
  }
  return places;
}

// The libraries of a program that was installed below a directory of its own are in its directory
// lib, such as Java's lib/server/libjvm.so, which is loaded by name.
std::vector<StaticProbePlace> StaticProbeFinder::OfProgram() const {
  Files files;
  char resolved[PATH_MAX];
  if (search_.program.empty() || realpath(search_.program.c_str(), resolved) == nullptr) return {};
  files.Add(resolved);
  const fs::path directory = fs::path(resolved).parent_path(), above = directory.parent_path();
  const bool is_shared = above == "/" || above == "/usr" || above == "/usr/local";
  if (directory.filename() == "bin" && !is_shared) files.AddTree((above / "lib").string());
  return files.Take();
}

const std::vector<StaticProbePlace>& StaticProbeFinder::All() {
  if (std::exchange(is_read_, true)) return all_;
  of_program_ = OfProgram();
  Files files;
  if (const auto pids = procfs::ProcessIds(roots_); pids.ok()) {
    for (const pid_t pid : *pids) files.AddProcess(roots_, pid);
  }
  for (const std::string& directory : search_.directories) files.AddDirectory(directory);
  all_ = files.Take();
  std::ranges::stable_sort(all_, {}, &StaticProbePlace::path);
  return all_;
}

absl::StatusOr<std::vector<StaticProbePlace>> StaticProbeFinder::Find(const NamedProbe& probe) {
  if (!probe.path.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const auto places, ReadStaticProbes(probe.path));
    auto matching = Matching(places, probe);
    if (!matching.empty()) return matching;
    return absl::NotFoundError(absl::StrCat(probe.path, " has no static probe ", probe.provider,
                                            ":", probe.name, "; `profiler list ", probe.path,
                                            "` shows its probes"));
  }
  const std::vector<StaticProbePlace>& all = All();
  auto matching = Matching(of_program_, probe);
  if (matching.empty()) matching = Matching(all, probe);
  if (!matching.empty()) return matching;
  return absl::NotFoundError(absl::StrCat(
      "no program or library that runs or is installed has a static probe ", probe.provider, ":",
      probe.name, "; name the file: -e PATH:%", probe.provider, ":", probe.name));
}

}  // namespace profiler::events

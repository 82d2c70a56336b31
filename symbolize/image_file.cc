#include "symbolize/image_file.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/living_thread.h"
#include "src/base/mapped_device.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"
#include "symbolize/elf/embedded_elf.h"
#include "symbolize/elf/file_holes.h"
#include "symbolize/elf/libelf_file.h"
#include "symbolize/vdso.h"

namespace profiler::symbolize {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Returns the path /proc/PID/map_files/START-END of a mapping of the file `recorded`; empty if the
// process has no such mapping.
std::string FindMapFile(const std::string& process, std::string_view recorded) {
  const std::string directory = absl::StrCat(process, "/map_files");
  for (const std::string& name : NamesIn(directory)) {
    std::string path = absl::StrCat(directory, "/", name);
    if (LinkAt(path) == recorded) return path;
  }
  return {};
}

struct Candidate {
  std::string path;
  std::string root;
  bool needs_build_id = false;  // the file may be another one with the same name
  bool is_of_process = false;   // the file is below /proc/PID
  bool is_mapped = false;       // the process has mapped this file, at any path
  std::string recorded_path{};  // path of the recording, if the file was kept open
};

// Returns the directory out of which links must not lead. Empty for files below --symfs: these
// belong to the user, so their links may lead anywhere.
std::string ProcessRoot(const std::string& root, const SymbolizerOptions& options) {
  return root == options.symfs ? "" : root;
}

// Returns the file that the recorder kept open. It is the mapped file, whatever is at its path now.
std::optional<Candidate> KeptCandidate(const ImageSpec& spec, const std::string& path,
                                       const SymbolizerOptions& options) {
  if (options.kept == nullptr) return std::nullopt;
  const std::optional<KeptFiles::File> kept = options.kept->Find(spec.path, spec.build_id);
  if (!kept) return std::nullopt;
  return Candidate{.path = kept->path,
                   .root = kept->root,
                   .is_mapped = true,
                   .recorded_path = kept->root + path};
}

std::vector<Candidate> CandidatesFor(const ImageSpec& spec, const SymbolizerOptions& options) {
  std::vector<Candidate> candidates;
  const std::string process = DirectoryOfProcess(spec, options);
  std::string path = spec.path;
  const bool deleted = IsDeleted(path);
  bool needs_build_id = deleted;
  if (deleted) {
    if (!process.empty()) {
      if (LinkAt(process + "/exe") == path)
        candidates.push_back({process + "/exe", "", false, true, true});
      if (std::string file = FindMapFile(process, path); !file.empty()) {
        candidates.push_back({std::move(file), "", false, true, true});
      }
    }
    path.resize(path.size() - kDeleted.size());
  } else if (HasOwnRoot(spec, options)) {
    // A process in a container has its own file of that name.
    const std::string root = process + "/root";
    candidates.push_back({root + path, root, false, true});
    needs_build_id = true;
  }
  // Without a build-id nothing identifies the file at the path, so the kept file comes before it.
  const std::optional<Candidate> kept = KeptCandidate(spec, path, options);
  if (kept && spec.build_id.empty()) candidates.push_back(*kept);
  if (spec.build_id.empty() && options.kept != nullptr && options.kept->HasSeveral(spec.path)) {
    needs_build_id = true;
  }
  candidates.push_back({options.symfs + path, options.symfs, needs_build_id});
  if (kept && !spec.build_id.empty()) candidates.push_back(*kept);
  if (spec.build_id.size() < 2) return candidates;
  for (const std::string& directory : options.debug_directories) {
    candidates.push_back({BuildIdPath(directory, spec.build_id), "", true});
  }
  for (const std::string& cache : options.build_id_caches) {
    const std::string cached = BuildIdPath(cache, spec.build_id);
    candidates.push_back({cached + "/elf", "", true});
    candidates.push_back({cached, "", true});  // a link to the file, made by older versions of perf
  }
  if (options.fetched != nullptr) {
    candidates.push_back({options.fetched->Find(FileKind::kExecutable, spec.build_id), "", true});
  }
  return candidates;
}

}  // namespace

namespace {

FileStamp StampOf(int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0) return {};
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .modified = Nanoseconds(file.st_mtim),
          .hides_device = HidesDevice(fd)};
}

}  // namespace

absl::StatusOr<ImageFile> OpenElf(const std::string& path, const std::string& root,
                                  size_t most_headers_of_others, std::optional<FileOffset> within) {
  ImageFile image;
  image.path = path;
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, root));
  PROFILER_ASSIGN_OR_RETURN(image.file, MappedFile::FromFd(fd.get(), path));
  image.stamp = StampOf(fd.get());
  std::optional<EmbeddedElf> embedded;
  if (within) embedded = FindEmbeddedElf(image.file.bytes(), *within);
  if (embedded) image.start = embedded->start;
  if (!image.file.IsOfUserOrRoot() &&
      LibelfFile::CountHeaders(image.file.bytes().subspan(image.start)) > most_headers_of_others) {
    return absl::DataLossError(absl::StrCat(path, ": too many sections and segments"));
  }
  if (embedded) {
    image.elf = std::move(embedded->elf);
  } else {
    PROFILER_ASSIGN_OR_RETURN(image.elf, ElfImage::Parse(image.file.bytes(), HolesOf(fd.get())));
  }
  if (image.file.has_lost_bytes()) {
    return absl::DataLossError(absl::StrCat(path, ": it was overwritten while it was read"));
  }
  return image;
}

std::string ProcessRootOf(const ImageFile& image, const SymbolizerOptions& options) {
  return ProcessRoot(image.root, options);
}

std::string DirectoryOfProcess(const ImageSpec& spec, const SymbolizerOptions& options) {
  if (PidOf(spec.pid) == 0) return {};
  const uint32_t pid = PidOf(spec.pid);
  if (!IsStillThere(absl::StrCat(options.proc_path, "/", pid), spec.life)) return {};
  return absl::StrCat(options.proc_path, "/", LivingThreadOf(options.proc_path, pid));
}

bool HasOwnRoot(const ImageSpec& spec, const SymbolizerOptions& options) {
  const std::string process = DirectoryOfProcess(spec, options);
  const std::string root = process + "/root";
  if (process.empty() || !FileIdOf(root)) return false;
  if (!IsSameFile(root, "/")) return true;
  // Both processes have the same root directory, but may have other file systems mounted below it.
  const std::string its_mounts = LinkAt(process + "/ns/mnt");
  const std::string our_mounts = LinkAt(options.proc_path + "/self/ns/mnt");
  return !its_mounts.empty() && !our_mounts.empty() && its_mounts != our_mounts;
}

bool IsDeleted(std::string_view path) { return path.ends_with(kDeleted); }

namespace {

// Replaces the path in the process's root by our own path if both lead to the same file. An example
// is a service with a private /tmp: it lives in another mount namespace, but its program is ours.
void TakeAsOurs(const ImageSpec& spec, const SymbolizerOptions& options, ImageFile& image) {
  std::string path = options.symfs + spec.path;
  if (ProcessRootOf(image, options).empty() || !image.file.IsAt(path)) return;
  image.path = std::move(path);
  image.root = options.symfs;
}

}  // namespace

namespace {

// Returns true if a file without a build-id, found by its path only, may be the recorded one. A
// modification time in the future proves nothing.
bool MayBeRecorded(const FileStamp& file, const ImageSpec& spec, const SymbolizerOptions& options) {
  if (!options.symfs.empty()) return true;
  const int64_t over = spec.life.over;
  const bool is_written_since = over != ProcessLife::kUnknown &&
                                file.modified > over + kTimeSlack &&
                                file.modified <= ReadClock(CLOCK_REALTIME);
  if (is_written_since) return false;
  if (spec.ino == 0) return !options.is_of_another_machine;
  return IsFileOfMapping(file.device, file.inode, file.hides_device, spec.maj, spec.min, spec.ino);
}

}  // namespace

OpenedImage OpenImage(const ImageSpec& spec, const SymbolizerOptions& options,
                      size_t most_headers_of_others, std::optional<FileOffset> within) {
  OpenedImage opened;
  opened.reason = Reason::kNoImageFile;
  for (const Candidate& candidate : CandidatesFor(spec, options)) {
    absl::StatusOr<ImageFile> file = OpenElf(candidate.path, ProcessRoot(candidate.root, options),
                                             most_headers_of_others, within);
    if (!file.ok()) {
      const bool not_elf = absl::IsDataLoss(file.status()) || absl::IsUnimplemented(file.status());
      if (not_elf && opened.reason == Reason::kNoImageFile) opened.reason = Reason::kNotElf;
      continue;
    }
    // Another process may have got the pid since the candidates were listed.
    if (candidate.is_of_process && DirectoryOfProcess(spec, options).empty()) continue;
    const bool matches = SameBuildId(spec.build_id, file->elf.build_id());
    const bool is_another = spec.build_id.empty() ? candidate.needs_build_id ||
                                                        (!candidate.is_mapped &&
                                                         !MayBeRecorded(file->stamp, spec, options))
                                                  : !matches;
    if (is_another) {
      opened.reason = Reason::kBuildIdMismatch;
      continue;
    }
    opened.reason = Reason::kNamed;
    opened.file = *std::move(file);
    opened.file->root = candidate.root;
    if (!candidate.recorded_path.empty()) opened.file->path = candidate.recorded_path;
    TakeAsOurs(spec, options, *opened.file);
    return opened;
  }
  return opened;
}

// Candidates below the root of a process count as existing. They are not checked, because links
// below that root lead to other files for this process than for the process itself.
bool MayFindImage(const ImageSpec& spec, const SymbolizerOptions& options) {
  return std::ranges::any_of(CandidatesFor(spec, options), [&](const Candidate& candidate) {
    return !ProcessRoot(candidate.root, options).empty() || FileIdOf(candidate.path).has_value();
  });
}

namespace {

OpenedImage VdsoOfKernel(const ImageSpec& spec) {
  OpenedImage opened;
  opened.reason = Reason::kNoImageFile;
  const bool is_32_bit = spec.path == kVdsoOf32Bit;
  const std::span<const std::byte> bytes = is_32_bit ? VdsoOf32Bit() : OwnVdso();
  if (bytes.empty()) return opened;
  ImageFile image;
  image.path = "[vdso]";
  image.bytes.assign(bytes.begin(), bytes.end());
  absl::StatusOr<ElfImage> elf = ElfImage::Parse(image.bytes);
  if (!elf.ok()) return opened;
  image.elf = *std::move(elf);
  if (!spec.build_id.empty() && !SameBuildId(spec.build_id, image.elf.build_id())) {
    opened.reason = Reason::kBuildIdMismatch;
    return opened;
  }
  opened.reason = Reason::kNamed;
  opened.file = std::move(image);
  return opened;
}

}  // namespace

OpenedImage OpenVdso(const ImageSpec& spec, const SymbolizerOptions& options) {
  OpenedImage opened;
  opened.reason = Reason::kNoImageFile;
  const bool is_known =
      !spec.build_id.empty() || options.running_kernel == RunningKernel::kIsRecorded;
  if (!is_known) opened.reason = Reason::kBuildIdMismatch;
  if (options.symfs.empty() && is_known) opened = VdsoOfKernel(spec);
  if (opened.file || spec.build_id.size() < 2) return opened;
  for (const std::string& cache : options.build_id_caches) {
    absl::StatusOr<ImageFile> file = OpenElf(BuildIdPath(cache, spec.build_id) + "/vdso");
    if (!file.ok() || !SameBuildId(spec.build_id, file->elf.build_id())) continue;
    opened.reason = Reason::kNamed;
    opened.file = *std::move(file);
    break;
  }
  return opened;
}

std::vector<std::string> UsersBuildIdCaches() {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == 0) return {};
  return {std::string(home) + "/.debug"};
}

void SymbolizerOptions::LookBelow(const std::string& directory) {
  symfs = directory;
  kallsyms_path = directory + "/proc/kallsyms";
  proc_path = directory + "/proc";
  sys_path = directory + "/sys";
  jit_map_directory = directory + "/tmp";
  debug_directories = {directory + "/usr/lib/debug"};
  build_id_caches.clear();
}

}  // namespace profiler::symbolize

#include "src/record/image_keeper.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/base/regular_file.h"
#include "src/machine/procfs/memory_map.h"
#include "src/machine/sideband/user_image.h"
#include "symbolize/files/jit_file.h"
#include "symbolize/image_file.h"

namespace profiler::record {
namespace {

// Largest number of root directories that are searched for the file of a process that has ended.
constexpr size_t kMostRootsTried = 16;
// Number of mappings between two calls of CloseDeleted. It grows with the number of kept files,
// because each file costs CloseDeleted a system call.
constexpr uint64_t kMetBetweenLooks = 4096, kMetForEachFile = 8;

std::string DescriptorPath(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

std::string_view WithoutMark(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (symbolize::IsDeleted(path)) path.remove_suffix(kDeleted.size());
  return path;
}

}  // namespace

ImageKeeper::ImageKeeper(std::shared_ptr<symbolize::KeptFiles> kept, const procfs::Roots& roots,
                         const Limits& limits)
    : kept_(std::move(kept)),
      proc_(roots.proc),
      limits_(limits),
      roots_(roots),
      own_root_(FileIdOf("/")),
      own_pids_(LinkAt(absl::StrCat(roots.proc, "/self/ns/pid"))),
      file_budget_(limits.files) {}

void ImageKeeper::Take(const perf_event::Mmap2& mapping) {
  if ((mapping.prot & PROT_EXEC) == 0) return;
  if (++met_ > std::max<uint64_t>(kMetBetweenLooks, kMetForEachFile * files_.size())) {
    CloseDeleted();
  }
  const auto kind = sideband::KindOfUserImage(mapping.filename, !mapping.build_id.empty());
  if (kind == symbolize::ImageKind::kJit) WantMap(mapping.pid);
  if (kind != symbolize::ImageKind::kUser) return;
  const std::span<const std::byte> build_id = mapping.build_id;
  MakeKey(mapping.filename, build_id, mapping.maj, mapping.min, mapping.ino);
  auto known = images_.find(key_);
  if (known == images_.end()) {
    if (!name_budget_.Take(mapping.pid, sizeof(Image) + 2 * key_.size())) return;
    known = images_.emplace(key_, Image()).first;
  }
  Image& image = known->second;
  if (image.is_settled) return;
  // After a failed search, a search for a process that has ended would fail in the same way. A
  // living process may lead to the file, so it is worth a search. Searches become rarer: the 1st,
  // 2nd, 4th, 8th … try.
  if (image.tries > 0 && !IsAlive(mapping.pid)) return;
  if (!std::has_single_bit(++image.tries)) return;
  Wanted wanted{.path = std::string(mapping.filename),
                .build_id = {build_id.begin(), build_id.end()},
                .maj = mapping.maj,
                .min = mapping.min,
                .ino = mapping.ino,
                .start = mapping.addr,
                .end = mapping.addr + mapping.len};
  image.is_settled = Settle(wanted, mapping.pid);
  if (image.is_settled || image.tries > 1) return;
  if (waiting_.size() == kMostWaiting) waiting_.pop_front();
  waiting_.push_back(std::move(wanted));
}

// Notes that the process may write a map. Leaves out a process with our own root directory and pid
// namespace, because its map will still be found when the recording ends.
void ImageKeeper::WantMap(uint32_t pid) {
  if (maps_wanted_.size() == kMostMapsWanted || !looked_at_.insert(pid).second) return;
  const auto is_known = [pid](const MapWanted& wanted) { return wanted.pid == pid; };
  if (std::ranges::any_of(maps_wanted_, is_known) || !kept_->FindMap(pid).empty()) return;
  const std::string pids = LinkAt(absl::StrCat(proc_, "/", pid, "/ns/pid"));
  const bool has_own_number = !pids.empty() && pids != own_pids_;
  if (!has_own_number && roots_.Of(pid).directory == nullptr) return;
  maps_wanted_.push_back({.pid = pid});
}

// Looks for a process's map in the first call after WantMap, then 2, 4, 8 … calls later, and from
// then on every 64 calls.
void ImageKeeper::LookForMaps() {
  constexpr uint32_t kRarely = 64;
  looked_at_.clear();
  std::erase_if(maps_wanted_, [&](MapWanted& wanted) {
    if (++wanted.looks < wanted.next) return false;
    wanted.looks = 0;
    wanted.next = std::min(2 * wanted.next, kRarely);
    return FindMap(wanted.pid) || !IsAlive(wanted.pid);
  });
}

// Looks for the map where naming will look for it later. The process must still run, because its
// user and root directory are read from it.
bool ImageKeeper::FindMap(uint32_t pid) {
  symbolize::SymbolizerOptions files;
  files.proc_path = proc_;
  const symbolize::ImageSpec spec{.kind = symbolize::ImageKind::kJit, .path = {}, .pid = pid};
  const symbolize::JitMapPlaces places = symbolize::PlacesOfJitMap(spec, files);
  if (places.root.empty()) return false;  // the process has ended
  for (const std::string& path : places.paths) {
    if (!path.starts_with(places.root)) continue;
    absl::StatusOr<UniqueFd> file = symbolize::OpenJitFile(path, places.root, spec, files);
    if (!file.ok()) continue;
    struct stat status;
    const bool has_room = files_.size() < limits_.files && fstat(file->get(), &status) == 0 &&
                          (IsUserOrRoot(status.st_uid) || file_budget_.Take(status.st_uid, 1));
    if (has_room) {
      auto kept = std::make_shared<const UniqueFd>(*std::move(file));
      files_.push_back(kept);
      kept_->AddMap(pid, std::move(kept));
    }
    return true;
  }
  return false;
}

bool ImageKeeper::IsAlive(uint32_t pid) const {
  return access(absl::StrCat(proc_, "/", pid).c_str(), F_OK) == 0;
}

void ImageKeeper::MakeKey(std::string_view path, std::span<const std::byte> build_id, uint32_t maj,
                          uint32_t min, uint64_t ino) {
  key_.assign(path);
  key_.push_back(0);
  if (build_id.empty()) {
    absl::StrAppend(&key_, maj, ":", min, ":", ino);
  } else {
    key_ += TextOf(build_id);
  }
}

bool ImageKeeper::Settle(const Wanted& wanted, uint32_t pid) {
  std::optional<Candidate> found = Find(wanted, pid);
  return found && Keep(wanted, *std::move(found));
}

std::optional<ImageKeeper::Candidate> ImageKeeper::Find(const Wanted& wanted, uint32_t pid) {
  if (UniqueFd file = OpenBelow(nullptr, wanted); file.valid()) return Candidate{std::move(file)};
  const FileRoots::Found its = roots_.Of(pid);
  if (its.is_new) FindWaitingBelow(its.directory);
  for (size_t i = 0; i < std::min(roots_.recent().size(), kMostRootsTried); ++i) {
    const symbolize::SharedFd& root = roots_.recent()[i];
    if (UniqueFd file = OpenBelow(root, wanted); file.valid()) {
      return Candidate{std::move(file), root};
    }
  }
  if (UniqueFd file = OpenMapped(wanted, pid); file.valid()) {
    return Candidate{std::move(file), its.directory};
  }
  return std::nullopt;
}

UniqueFd ImageKeeper::OpenBelow(const symbolize::SharedFd& root, const Wanted& wanted) const {
  const std::string directory = root == nullptr ? std::string() : DescriptorPath(root->get());
  absl::StatusOr<UniqueFd> file =
      OpenRegularFile(directory + std::string(WithoutMark(wanted.path)), directory);
  if (!file.ok() || !Matches(file->get(), wanted)) return {};
  return *std::move(file);
}

// Opens a file that has no name any more, through the process: as its program, or as the mapping
// (map_files, which needs rights). A library's code is a mapping of its own, so other mappings need
// not be tried.
UniqueFd ImageKeeper::OpenMapped(const Wanted& wanted, uint32_t pid) const {
  const std::string process = absl::StrCat(proc_, "/", LivingThreadOf(proc_, pid));
  const std::string range =
      absl::StrCat("/map_files/", absl::Hex(wanted.start), "-", absl::Hex(wanted.end));
  const RaisedCapabilities raised(kToOpenImages);
  for (const std::string& link : {process + "/exe", process + range}) {
    if (WithoutMark(LinkAt(link)) != WithoutMark(wanted.path)) continue;
    absl::StatusOr<UniqueFd> file = OpenRegularFile(link);
    if (file.ok() && Matches(file->get(), wanted)) return *std::move(file);
  }
  return {};
}

bool ImageKeeper::Matches(int file, const Wanted& wanted) const {
  if (!wanted.build_id.empty()) return procfs::BuildIdOfFd(file) == wanted.build_id;
  return procfs::IsMappedFile(file, wanted.maj, wanted.min, wanted.ino);
}

// Keeps the file. Returns true if the image is settled: the file is kept or need not be kept.
bool ImageKeeper::Keep(const Wanted& wanted, Candidate candidate) {
  // The image may already be kept under another name.
  if (!wanted.build_id.empty() && kept_->Find(wanted.path, wanted.build_id)) return true;
  struct stat status;
  if (fstat(candidate.file.get(), &status) != 0) return false;
  const auto version = symbolize::KeptFiles::VersionOf(candidate.file.get());
  const bool is_foreign = candidate.root != nullptr;
  const bool is_gone = status.st_nlink == 0;
  const bool may_be_unmounted =
      limits_.system_wide && (!own_root_ || status.st_dev != own_root_->device);
  if (!is_foreign && !is_gone && may_be_unmounted) {
    kept_->Add(wanted.path, wanted.build_id, version, nullptr, nullptr);
    return true;
  }
  const bool has_room = files_.size() < limits_.files &&
                        (IsUserOrRoot(status.st_uid) || file_budget_.Take(status.st_uid, 1));
  if (!has_room) return true;
  auto file = std::make_shared<const UniqueFd>(std::move(candidate.file));
  files_.push_back(file);
  kept_->Add(wanted.path, wanted.build_id, version, std::move(file), std::move(candidate.root));
  return true;
}

void ImageKeeper::FindWaitingBelow(const symbolize::SharedFd& root) {
  std::erase_if(waiting_, [&](const Wanted& wanted) {
    UniqueFd file = OpenBelow(root, wanted);
    if (!file.valid()) return false;
    MakeKey(wanted.path, wanted.build_id, wanted.maj, wanted.min, wanted.ino);
    // The key is in images_, because the image got its entry before `wanted` was added.
    Image& image = images_.find(key_)->second;
    if (!image.is_settled) image.is_settled = Keep(wanted, Candidate{std::move(file), root});
    return true;
  });
}

// Closes removed files, the oldest first, beyond the limit in bytes. The descriptor's number stays
// in use (for /dev/null), because a thread that names a complete file may be about to open the
// image by that number. If the number were free, that thread might find an unrelated file under it.
void ImageKeeper::CloseDeleted() {
  met_ = 0;
  constexpr uint64_t kBlock = 512;  // unit of st_blocks, see stat(2)
  uint64_t bytes = 0;
  std::vector<int> deleted;  // descriptors of removed files, the latest first
  for (size_t i = files_.size(); i > 0; --i) {
    struct stat status;
    const int file = files_[i - 1]->get();
    if (fstat(file, &status) != 0 || status.st_nlink > 0) continue;
    bytes += static_cast<uint64_t>(status.st_blocks) * kBlock;
    if (bytes > limits_.deleted_bytes) deleted.push_back(file);
  }
  if (deleted.empty()) return;
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return;
  for (const int file : deleted) dup3(null.get(), file, O_CLOEXEC);
}

}  // namespace profiler::record

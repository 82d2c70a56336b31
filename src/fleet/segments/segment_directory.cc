#include "src/fleet/segments/segment_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/byte_reader.h"
#include "src/base/file_access.h"
#include "src/base/own_directory.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "src/base/transfer.h"

namespace profiler::fleet {
namespace {

constexpr std::string_view kSuffix = ".seg";
constexpr std::string_view kTemporarySuffix = ".new";
constexpr std::string_view kRefused = "refused";
constexpr uint64_t kShareAside = 10;  // refused segments may take 1/kShareAside of the limit

constexpr int64_t kNanosecondsOfMillisecond = 1'000'000;
constexpr size_t kDigits = 13, kHashDigits = 16;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

std::string PathAside(const SegmentFile& file) {
  return absl::StrCat(View(kRefused), "/", file.name);
}

bool ComesBefore(const SegmentFile& a, const SegmentFile& b) { return a.name < b.name; }

// Reads at most `most` bytes of the file. A file that grows while it is read is no segment, so the
// new bytes are ignored.
absl::StatusOr<std::vector<std::byte>> BytesIn(int fd, const std::string& name, size_t most) {
  struct stat status;
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, name);
  std::vector<std::byte> bytes(std::min(most, static_cast<size_t>(status.st_size)));
  PROFILER_ASSIGN_OR_RETURN(const size_t size, ReadFully(fd, bytes, name));
  bytes.resize(size);
  return bytes;
}

absl::StatusOr<std::vector<std::byte>> BytesOf(int directory, const std::string& path,
                                               const SegmentFile& file, size_t most) {
  auto fd = OpenRegularFileIn(directory, file.name);
  const std::string name = absl::StrCat(path, "/", file.name);
  if (!fd.ok()) return Prefixed(absl::StrCat(path, "/"), fd.status());
  return BytesIn(fd->get(), name, most);
}

}  // namespace

std::string SegmentName(std::string_view host, UnixTime begin) {
  return absl::StrFormat("%013d-%016x%s", begin / kNanosecondsOfMillisecond,
                         XXH3_64bits(host.data(), host.size()), View(kSuffix));
}

std::optional<UnixTime> BeginOfSegment(std::string_view name) {
  if (name.size() != kDigits + 1 + kHashDigits + kSuffix.size() || !name.ends_with(kSuffix) ||
      name[kDigits] != '-') {
    return std::nullopt;
  }
  int64_t milliseconds = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + kDigits, milliseconds);
  if (error != std::errc() || stop != name.data() + kDigits) return std::nullopt;
  return milliseconds * kNanosecondsOfMillisecond;
}

SegmentFiles::SegmentFiles(std::vector<SegmentFile> sorted) : files_(std::move(sorted)) {
  for (const SegmentFile& file : files_) bytes_ += file.bytes;
}

void SegmentFiles::Insert(const SegmentFile& file) {
  Remove(file);
  files_.insert(std::ranges::lower_bound(files_, file, ComesBefore), file);
  bytes_ += file.bytes;
}

void SegmentFiles::Remove(const SegmentFile& file) {
  const auto at = std::ranges::lower_bound(files_, file, ComesBefore);
  if (at == files_.end() || at->name != file.name) return;
  bytes_ -= at->bytes;
  files_.erase(at);
}

absl::StatusOr<SegmentDirectory> SegmentDirectory::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  return SegmentDirectory(path, std::move(fd));
}

absl::StatusOr<std::vector<SegmentFile>> SegmentDirectory::List(UnixTime since,
                                                                UnixTime until) const {
  UniqueFd again(openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return ErrnoStatus(errno, path_);
  const std::unique_ptr<DIR, CloseDirectory> entries(fdopendir(again.get()));
  if (entries == nullptr) return ErrnoStatus(errno, path_);
  std::ignore = again.Release();
  std::vector<SegmentFile> files;
  while (const dirent* entry = readdir(entries.get())) {
    const std::optional<UnixTime> begin = BeginOfSegment(entry->d_name);
    if (!begin || *begin < since || *begin >= until) continue;
    struct stat status;
    if (fstatat(fd_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone
    if (!S_ISREG(status.st_mode)) continue;
    files.push_back(
        {.name = entry->d_name, .begin = *begin, .bytes = static_cast<uint64_t>(status.st_size)});
  }
  std::ranges::sort(files, ComesBefore);
  return files;
}

absl::StatusOr<Window> SegmentDirectory::Read(const SegmentFile& file) const {
  PROFILER_ASSIGN_OR_RETURN(const auto bytes, BytesOf(fd_.get(), path_, file, SIZE_MAX));
  auto window = DecodeSegment(bytes);
  if (!window.ok()) return Prefixed(absl::StrCat(path_, "/", file.name, ": "), window.status());
  return window;
}

absl::StatusOr<SegmentHead> SegmentDirectory::ReadHead(const SegmentFile& file) const {
  PROFILER_ASSIGN_OR_RETURN(const auto bytes, BytesOf(fd_.get(), path_, file, kMostStartBytes));
  auto head = ReadSegmentHead(bytes);
  if (!head.ok()) return Prefixed(absl::StrCat(path_, "/", file.name, ": "), head.status());
  return head;
}

SegmentSpool::SegmentSpool(std::string path, UniqueFd directory, UniqueFd lock,
                           const Limits& limits)
    : SegmentDirectory(std::move(path), std::move(directory)),
      lock_(std::move(lock)),
      limits_(limits) {}

absl::StatusOr<SegmentSpool> SegmentSpool::Open(const std::string& path, const Limits& limits) {
  PROFILER_ASSIGN_OR_RETURN(UniqueFd directory, OpenOwnDirectory(path, IfMissing::kMake));
  UniqueFd lock(openat(directory.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IWUSR));
  if (!lock.valid()) return ErrnoStatus(errno, absl::StrCat(path, "/lock"));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": another agent already writes to this spool; give each agent its own"));
  }
  for (const std::string& name : NamesIn(absl::StrCat("/proc/self/fd/", directory.get()))) {
    if (name.ends_with(kTemporarySuffix)) unlinkat(directory.get(), name.c_str(), 0);
  }
  SegmentSpool spool(path, std::move(directory), std::move(lock), limits);
  PROFILER_ASSIGN_OR_RETURN(auto files, spool.List(INT64_MIN, INT64_MAX));
  spool.files_ = SegmentFiles(std::move(files));
  if (const auto aside = SegmentDirectory::Open(absl::StrCat(path, "/", View(kRefused)));
      aside.ok()) {
    PROFILER_ASSIGN_OR_RETURN(auto refused, aside->List(INT64_MIN, INT64_MAX));
    spool.aside_ = SegmentFiles(std::move(refused));
  }
  return spool;
}

absl::Status SegmentSpool::Write(const std::string& name, std::string_view bytes) const {
  const std::string temporary = name + std::string(kTemporarySuffix);
  const UniqueFd file(openat(fd_.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                             S_IRUSR | S_IWUSR));
  if (!file.valid()) return WriteError(errno, absl::StrCat(path_, "/", temporary));
  int error = WriteFully(file.get(), BytesOfText(bytes));
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error == 0 && renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    error = errno;
  }
  if (error == 0) return absl::OkStatus();
  unlinkat(fd_.get(), temporary.c_str(), 0);
  return WriteError(error, absl::StrCat(path_, "/", name));
}

bool SegmentSpool::DropOldest() {
  if (files_.empty()) return false;
  const SegmentFile oldest = files_.oldest();
  const auto sent = std::ranges::lower_bound(may_go_, oldest.name);
  if (sent != may_go_.end() && *sent == oldest.name) {
    may_go_.erase(sent);
  } else {
    ++dropped_.segments;
    if (const auto head = ReadHead(oldest); head.ok()) dropped_.samples += head->samples;
  }
  unlinkat(fd_.get(), oldest.name.c_str(), 0);
  files_.Remove(oldest);
  return true;
}

bool SegmentSpool::DropOldestAside() {
  if (aside_.empty()) return false;
  const SegmentFile oldest = aside_.oldest();
  unlinkat(fd_.get(), PathAside(oldest).c_str(), 0);
  aside_.Remove(oldest);
  return true;
}

absl::Status SegmentSpool::Add(const Window& window) {
  const std::string bytes = EncodeSegment(window);
  const SegmentFile file = {
      .name = SegmentName(window.host, window.begin), .begin = window.begin, .bytes = bytes.size()};
  while (files_.bytes() + bytes.size() > limits_.bytes && DropOldest()) {
  }
  absl::Status status = Write(file.name, bytes);
  while (absl::IsResourceExhausted(status) && (DropOldest() || DropOldestAside())) {
    status = Write(file.name, bytes);
  }
  PROFILER_RETURN_IF_ERROR(status);
  files_.Insert(file);
  return absl::OkStatus();
}

void SegmentSpool::MayGo(const SegmentFile& file) {
  const auto at = std::ranges::lower_bound(may_go_, file.name);
  if (at == may_go_.end() || *at != file.name) may_go_.insert(at, file.name);
}

absl::Status SegmentSpool::SetAside(const SegmentFile& file) {
  const std::string refused(kRefused);
  if (mkdirat(fd_.get(), refused.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat(path_, "/", refused));
  }
  if (renameat(fd_.get(), file.name.c_str(), fd_.get(), PathAside(file).c_str()) != 0) {
    return ErrnoStatus(errno, absl::StrCat(path_, "/", file.name));
  }
  files_.Remove(file);
  aside_.Insert(file);
  // Removes old refused segments, because a server that refuses everything could fill the disk.
  while (aside_.size() > 1 && aside_.bytes() > limits_.bytes / kShareAside) DropOldestAside();
  return absl::OkStatus();
}

}  // namespace profiler::fleet

#include "src/base/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/file_id.h"
#include "src/base/regular_file.h"
#include "src/base/uninterrupted.h"
#include "src/base/unique_fd.h"

namespace profiler {
namespace {

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Returns the size in whole pages, plus at least one page of zeros.
size_t SizeWithZeros(size_t size) { return (size / PageSize() + 2) * PageSize(); }

bool SameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// A lock that the SIGBUS handler can take. It is held only while no mapped file is touched, so the
// handler never waits for the thread that it has interrupted.
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    // Acquire pairs with the release in the destructor, so this thread sees the list as the last
    // holder left it.
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

std::atomic_flag g_mappings_lock = ATOMIC_FLAG_INIT;
struct sigaction g_former_action;

}  // namespace

// A mapping. It is an element of the list that the SIGBUS handler searches.
struct MappedFile::Guarded {
  Guarded(std::span<const std::byte> bytes, std::string path, const struct stat& status)
      : start(reinterpret_cast<uintptr_t>(bytes.data())),
        end(start + SizeWithZeros(bytes.size())),
        path(std::move(path)),
        status(status) {
    static const bool installed = Install();
    static_cast<void>(installed);
    const SpinLock lock(g_mappings_lock);
    next = first;
    if (next != nullptr) next->previous = this;
    first = this;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    {
      const SpinLock lock(g_mappings_lock);
      (previous == nullptr ? first : previous->next) = next;
      if (next != nullptr) next->previous = previous;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address from mmap.
    munmap(reinterpret_cast<void*>(start), end - start);
  }

  static bool Install();
  static void Forget(uintptr_t from, uintptr_t to);
  static void HandleBusError(int signal, siginfo_t* info, void* context);
  static bool MapZeros(uintptr_t address);

  static Guarded* first;

  const uintptr_t start;
  const uintptr_t end;
  const std::string path;
  const struct stat status;  // status of the file when it was mapped
  std::atomic<bool> has_lost_bytes = false;
  Guarded* previous = nullptr;
  Guarded* next = nullptr;
};

MappedFile::Guarded* MappedFile::Guarded::first = nullptr;

bool MappedFile::Guarded::Install() {
  struct sigaction action = {};
  action.sa_sigaction = HandleBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, &g_former_action) == 0;
}

// Maps zeros from the page of `address` to the end of its mapping, because the file also lacks all
// later pages. Returns false if the address is in no mapping of ours.
bool MappedFile::Guarded::MapZeros(uintptr_t address) {
  const SpinLock lock(g_mappings_lock);
  Guarded* mapping = first;
  while (mapping != nullptr && (address < mapping->start || address >= mapping->end)) {
    mapping = mapping->next;
  }
  if (mapping == nullptr) return false;
  const uintptr_t page = address / PageSize() * PageSize();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address from the kernel.
  void* const zeros = mmap(reinterpret_cast<void*>(page), mapping->end - page, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  mapping->has_lost_bytes.store(true, std::memory_order_relaxed);
  return zeros != MAP_FAILED;
}

// Forgets the whole pages between the two addresses.
void MappedFile::Guarded::Forget(uintptr_t from, uintptr_t to) {
  const SpinLock lock(g_mappings_lock);
  for (Guarded* mapping = first; mapping != nullptr; mapping = mapping->next) {
    const uintptr_t begin = std::max(from, mapping->start), end = std::min(to, mapping->end);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address inside memory from mmap.
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

void MappedFile::Guarded::HandleBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (MapZeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = saved_errno;
    return;
  }
  if ((g_former_action.sa_flags & SA_SIGINFO) != 0) {
    g_former_action.sa_sigaction(signal, info, context);
  } else {
    // After the handler returns, the access is repeated, and the former action handles it.
    sigaction(SIGBUS, &g_former_action, nullptr);
  }
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path, const std::string& root) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, root));
  return FromFd(fd.get(), path);
}

absl::StatusOr<MappedFile> MappedFile::OpenOwn(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenOwnFile(path));
  return FromFd(fd.get(), path);
}

absl::StatusOr<MappedFile> MappedFile::FromFd(int fd, const std::string& path) {
  struct stat status;
  if (fstat(fd, &status) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  MappedFile file;
  if (status.st_size == 0) return file;
  const auto size = static_cast<size_t>(status.st_size);
  void* const zeros = mmap(nullptr, SizeWithZeros(size), PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) return ErrnoStatus(errno, "cannot map " + path);
  void* const address =
      Uninterrupted([&] { return mmap(zeros, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0); });
  if (address == MAP_FAILED) {
    const absl::Status failed = ErrnoStatus(errno, "cannot map " + path);
    munmap(zeros, SizeWithZeros(size));
    return failed;
  }
  file.bytes_ = {static_cast<const std::byte*>(address), size};
  file.guarded_ = std::make_unique<Guarded>(file.bytes_, path, status);
  return file;
}

MappedFile::MappedFile() = default;

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), guarded_(std::move(other.guarded_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  bytes_ = std::exchange(other.bytes_, {});
  guarded_ = std::move(other.guarded_);
  return *this;
}

MappedFile::~MappedFile() = default;

bool MappedFile::has_lost_bytes() const {
  return guarded_ != nullptr && guarded_->has_lost_bytes.load(std::memory_order_relaxed);
}

std::optional<uid_t> MappedFile::owner() const {
  if (guarded_ == nullptr) return std::nullopt;
  return guarded_->status.st_uid;
}

bool MappedFile::IsAt(const std::string& path) const {
  return guarded_ != nullptr &&
         FileIdOf(path) == FileId{guarded_->status.st_dev, guarded_->status.st_ino};
}

bool MappedFile::HasChanged() const {
  if (guarded_ == nullptr) return false;
  if (has_lost_bytes()) return true;
  struct stat now;
  if (stat(guarded_->path.c_str(), &now) != 0) return false;
  const struct stat& then = guarded_->status;
  return now.st_dev == then.st_dev && now.st_ino == then.st_ino &&
         (now.st_size != then.st_size || !SameTime(now.st_mtim, then.st_mtim));
}

void MappedFile::Forget(std::span<const std::byte> bytes) {
  const auto start = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (start + PageSize() - 1) / PageSize() * PageSize();
  Guarded::Forget(first, (start + bytes.size()) / PageSize() * PageSize());
}

void MappedFile::ForgetAll() { Guarded::Forget(0, UINTPTR_MAX); }

}  // namespace profiler

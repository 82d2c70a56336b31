#include "src/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/unique_fd.h"

namespace profiler {
namespace {

void Unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, path);
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
  void* address = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return ErrnoStatus(errno, path);
  file.bytes_ = {static_cast<const std::byte*>(address), static_cast<size_t>(status.st_size)};
  return file;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    Unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() { Unmap(bytes_); }

void MappedFile::Forget(size_t offset, size_t size) const {
  const size_t page = 4096;
  const size_t first = (offset + page - 1) / page * page;
  const size_t end = offset + size > bytes_.size() ? bytes_.size() : offset + size;
  const size_t last = end / page * page;
  if (first >= last) return;
  madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
}

}  // namespace profiler

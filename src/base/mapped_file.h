// A whole regular file mapped read-only.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "src/base/status.h"

namespace profiler {

// Pages come in as they are touched. A file that another process shortens while it is mapped raises
// SIGBUS on access: map only files whose writer appends (recordings) or replaces (ELF images).
class MappedFile {
 public:
  // Errors: those of open(2), fstat(2) and mmap(2); kInvalidArgument for what is not a regular
  // file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  // Maps what `fd` refers to; `fd` may be closed afterwards. `path` is for messages only.
  static absl::StatusOr<MappedFile> FromFd(int fd, const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Valid as long as this object. Empty for an empty file.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Tells the kernel that the whole pages inside [offset, offset + size) are not needed for now,
  // which takes them out of this process's resident memory; they come back when touched.
  void Forget(size_t offset, size_t size) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace profiler

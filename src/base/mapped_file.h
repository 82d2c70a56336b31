// Maps a whole regular file read-only, and survives its truncation.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/regular_file.h"
#include "src/base/status.h"

namespace profiler {

// A mapped file. Pages are read when they are touched. The file may change meanwhile: for example,
// a build overwrites a program that is being recorded. Access to a page that the file no longer has
// raises SIGBUS, so the first MappedFile installs a handler for that signal in the whole program:
//
//   file when mapped  ├── page ──┼── page ──┼── page ──┤
//   truncated later   ├── page ──┤
//   access                            ▲ SIGBUS: zeros are mapped from this page to the end, and
//                                     has_lost_bytes() is true from now on
//
// Libraries may therefore read these bytes, too: they read zeros instead of being interrupted. A
// SIGBUS for another reason has its former effect. One object must not be used by several threads
// at once; different objects and the handler may be.
class MappedFile {
 public:
  // Opens a path that may have been chosen by anybody. `root` and errors are those of
  // OpenRegularFile (regular_file.h); additional errors are those of mmap(2).
  static absl::StatusOr<MappedFile> Open(const std::string& path, const std::string& root = {});
  // Opens a file that the program or its user named, like OpenOwnFile.
  static absl::StatusOr<MappedFile> OpenOwn(const std::string& path);
  // Maps the file of `fd`; `fd` may be closed afterwards. HasChanged looks at `path`.
  static absl::StatusOr<MappedFile> FromFd(int fd, const std::string& path);

  MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // The content; empty for an empty file. Valid as long as this object. At least a page of zeros
  // follows, for libraries that read a few bytes too far.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Returns the owner of the file when it was mapped; nullopt if nothing is mapped.
  std::optional<uid_t> owner() const;
  bool IsOfUserOrRoot() const { return owner() && IsUserOrRoot(*owner()); }
  // True if the path leads to the file that was mapped.
  bool IsAt(const std::string& path) const;

  // True if a page could not be read, so that `bytes` showed zeros instead. Check it after reading.
  bool has_lost_bytes() const;

  // True if `bytes` may differ from the file that was mapped: bytes were lost, or the mapped file
  // was written to. Only a file that is still at the path is checked for writes. A replaced or
  // removed file has not changed, because the mapping keeps it. Costs one stat(2).
  bool HasChanged() const;

  // Tells the kernel that the whole pages inside `bytes` are not needed for now. They leave this
  // process's resident memory and come back when touched. Ignores bytes outside mapped files.
  // Thread-safe.
  static void Forget(std::span<const std::byte> bytes);
  // Like Forget, for all bytes of all mapped files. For a process that waits and would otherwise
  // keep memory of files that it read long ago. Costs some microseconds per file, more if much of
  // it is in memory.
  static void ForgetAll();

 private:
  struct Guarded;  // the handler's data about the mapping

  std::span<const std::byte> bytes_;
  std::unique_ptr<Guarded> guarded_;  // null: nothing is mapped
};

}  // namespace profiler

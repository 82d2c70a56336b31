// A whole regular file mapped read-only.

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

// Pages come in as they are touched. The files of others change under us: a build overwrites a
// program that is being recorded. Access to a page that its file does not have any more raises
// SIGBUS, so the first MappedFile installs a handler of that signal for the whole program:
//
//   file when mapped  ├── page ──┼── page ──┼── page ──┤
//   cut later         ├── page ──┤
//   access                            ▲ SIGBUS: zeros are mapped from this page to the end, and
//                                     has_lost_bytes() says so from now on
//
// Libraries may therefore read these bytes as well as we do: nothing jumps out of them, they read
// zeros. A SIGBUS for another reason does what it did before. Objects are not thread-safe; the
// handler and different objects in different threads are.
class MappedFile {
 public:
  // The path may be anybody's: `root` and errors are those of OpenRegularFile (regular_file.h), and
  // errors those of mmap(2).
  static absl::StatusOr<MappedFile> Open(const std::string& path, const std::string& root = {});
  // A file that the program or its user names, as OpenOwnFile has it.
  static absl::StatusOr<MappedFile> OpenOwn(const std::string& path);
  // Maps what `fd` refers to; `fd` may be closed afterwards. HasChanged looks at `path`.
  static absl::StatusOr<MappedFile> FromFd(int fd, const std::string& path);

  MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Valid as long as this object. Empty for an empty file. At least a page of zeros is behind them,
  // for libraries that look a few bytes too far.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Who owned the file when it was mapped; empty: nothing is mapped.
  std::optional<uid_t> owner() const;
  bool IsOfUserOrRoot() const { return owner() && IsUserOrRoot(*owner()); }
  // Whether the path leads to the file that was mapped.
  bool IsAt(const std::string& path) const;

  // Whether a page could not be read, so that `bytes` has shown zeros in its place. Whoever reads
  // asks afterwards.
  bool has_lost_bytes() const;

  // Whether `bytes` may show something else than the file that was mapped: it has lost bytes, or
  // the file at the path is still the mapped one and was written to. A file that was replaced or
  // removed is no change, as the mapping keeps it. Costs one stat(2).
  bool HasChanged() const;

  // Tells the kernel that the whole pages inside `bytes` are not needed for now, which takes them
  // out of this process's resident memory; they come back when touched. Nothing for bytes that are
  // no mapped file's. Thread-safe.
  static void Forget(std::span<const std::byte> bytes);
  // The same with all of every file that is mapped: for a process that waits, which would keep the
  // memory of what it has read long ago. Some microseconds a file, more for what is in memory.
  static void ForgetAll();

 private:
  struct Guarded;  // what the handler knows of the mapping

  std::span<const std::byte> bytes_;
  std::unique_ptr<Guarded> guarded_;  // null: nothing is mapped
};

}  // namespace profiler

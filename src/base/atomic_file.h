// Writes a file under a temporary name and renames it when it is complete.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/base/unlink_on_signal.h"

namespace profiler {

// A file that is written in three steps:
//
//   Create   creates DIR/profiler-PID-N.tmp in the directory of the file to be replaced
//   fd       … the caller writes to it …
//   Commit   copies owner and mode of the old file, then calls rename(2)
//
// If Commit is not called, or if SIGINT, SIGTERM or SIGHUP ends the process, the temporary file is
// removed and the old file is unchanged. (kill -9 leaves the temporary file behind.)
class AtomicFile {
 public:
  // True if a path leads, through symbolic links, to a regular file or to no file yet. Anything
  // else must be written in place: devices, FIFOs, and links of /proc to open files (/dev/stdout).
  static bool CanReplace(const std::string& path);

  // Returns the path behind the symbolic links; nullopt if CanReplace is false.
  static std::optional<std::string> TargetOf(const std::string& path);

  // Creates the temporary file. A new file gets `mode`, less the umask. Errors: those of open(2);
  // kInvalidArgument if CanReplace is false.
  static absl::StatusOr<AtomicFile> Create(const std::string& path, mode_t mode = 0600);

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Open for writing, and seekable. Valid as long as this object.
  int fd() const { return fd_.get(); }
  // The file that will be replaced. A symbolic link stays; its target is replaced.
  const std::string& target() const { return target_; }

  struct CommitOptions {
    // True if Commit waits for the disk. Then one of the two files, old or new, exists and is
    // complete even after a power cut. A cache does not need that.
    bool sync = true;
    // New name for the old file, in the same directory. A file that already has this name is
    // replaced. Empty: the old file is removed.
    std::string keep_old_as;
  };
  // Replaces the target. Call it once, after the last write. The target is a complete file at every
  // moment, except on file systems without hard links if the old file is kept. Errors: those of
  // fsync(2) and rename(2); then the old file is unchanged.
  absl::Status Commit(const CommitOptions& options);

 private:
  AtomicFile(std::string path, std::string target, std::string temporary)
      : path_(std::move(path)),
        target_(std::move(target)),
        temporary_(std::move(temporary)),
        unlink_on_signal_(temporary_) {}

  void TakeOwnerAndMode() const;
  absl::Status Rename(const std::string& from, const std::string& to) const;
  absl::Status Replace(const std::string& keep_old_as) const;

  std::string path_;  // the path as the caller spelt it, for messages
  std::string target_;
  std::string temporary_;
  UnlinkOnSignal unlink_on_signal_;
  UniqueFd fd_;  // invalid if there is nothing to unlink
};

}  // namespace profiler

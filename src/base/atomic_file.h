// A file that takes its place when it is whole, and not before.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/base/unlink_on_signal.h"

namespace profiler {

//   Create   DIR/profiler-PID-N.tmp, in the directory of the file that is to be replaced
//   fd       … is written to …
//   Commit   gets owner and mode of the old file, and its name by rename(2)
//
// Without Commit, and when SIGINT, SIGTERM or SIGHUP ends the process, the temporary file goes and
// the old one is as it was. (kill -9 leaves the temporary file behind.)
class AtomicFile {
 public:
  // Whether a path leads, through symbolic links, to a regular file or to none yet. Anything else
  // is to be written where it is: devices, FIFOs, and what /proc has of open files (/dev/stdout).
  static bool CanReplace(const std::string& path);

  // Where it leads then; nothing where CanReplace is false.
  static std::optional<std::string> TargetOf(const std::string& path);

  // `mode` is what a file that is not there yet gets, less the umask. Errors: those of open(2);
  // kInvalidArgument where CanReplace is false.
  static absl::StatusOr<AtomicFile> Create(const std::string& path, mode_t mode = 0600);

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Valid as long as this object, and open for writing. One may seek in it.
  int fd() const { return fd_.get(); }
  // The file that will be replaced: symbolic links are kept, and what they point at is meant.
  const std::string& target() const { return target_; }

  struct CommitOptions {
    // Wait for the disk, so that a power cut leaves the old file or the new one. A cache may do
    // without.
    bool sync = true;
    // What the old file, if there is one, is called from now on, in the same directory; a file of
    // this name is replaced. Empty: the old file goes.
    std::string keep_old_as;
  };
  // Once, last. There is a whole file at the target at each moment, except on file systems
  // without hard links while the old file is kept. Errors: those of fsync(2) and rename(2); the old
  // file is as it was then.
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

  std::string path_;  // as it was given, for messages
  std::string target_;
  std::string temporary_;
  UnlinkOnSignal unlink_on_signal_;
  UniqueFd fd_;  // invalid when there is nothing to unlink
};

}  // namespace profiler

// Keeps root directories of recorded processes open if they differ from this process's root
// directory, as in containers and chroots.
//
//   process lives   /proc/PID/root ──▶ a descriptor, for each root directory and mount namespace
//   process ends                       the executables are still found below the descriptor

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "src/base/fair_budget.h"
#include "src/base/file_id.h"
#include "src/machine/procfs/proc_file.h"
#include "symbolize/kept_files.h"

namespace profiler::record {

// The foreign root directories of a recording. Use it from one thread. A look at a process costs
// two or three system calls.
//
// An open directory keeps its file system mounted, so unmounting a chroot would fail with EBUSY. To
// avoid that, the descriptor refers to a private copy of the mounts, which ends with the
// descriptor. Such a copy needs CAP_SYS_ADMIN and a process in our mount namespace (open_tree(2)).
// The mounts of another namespace need no copy, because they end with that namespace. The file
// system itself stays in use until the descriptor is closed.
class FileRoots {
 public:
  // Limit for the number of open directories. All processes of one user, other than root and our
  // own user, may use at most one sixteenth of the remaining budget.
  static constexpr size_t kMost = 256;

  explicit FileRoots(const procfs::Roots& roots);

  struct Found {
    symbolize::SharedFd directory;  // null: our own root directory, or an unknown one
    bool is_new = false;            // True if no earlier process had this directory.
  };
  // Returns the root directory of a running process and moves it to the front of `recent`.
  Found Of(uint32_t pid);

  // Returns all directories, the most recently used first.
  const std::vector<symbolize::SharedFd>& recent() const { return recent_; }

 private:
  struct Key {
    FileId directory;
    ino_t mounts = 0;  // inode of the mount namespace
    bool operator==(const Key&) const = default;
  };

  std::optional<Key> KeyOf(const std::string& process) const;
  symbolize::SharedFd Open(const std::string& process, const Key& key);

  const std::string proc_;
  const std::optional<Key> own_;
  // The key of each directory, in the order of `recent_`.
  std::vector<Key> keys_;
  std::vector<symbolize::SharedFd> recent_;
  FairBudget budget_{kMost};  // Each user has a share.
};

}  // namespace profiler::record

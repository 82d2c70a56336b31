// The root directories that processes of a recording have and this one has not, kept open: those of
// containers and chroots.
//
//   process lives   /proc/PID/root ──▶ a descriptor, for each root directory and mount namespace
//   process ends                       what it has executed is still found below that

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
#include "src/procfs/proc_file.h"
#include "symbolize/kept_files.h"

namespace profiler::record {

// One thread. A look at a process costs two system calls or three.
//
// A descriptor of a directory keeps its file system mounted: whoever would unmount a chroot would
// be told that it is busy. So the descriptor is one of a copy of the mounts, where that may be made
// (open_tree(2), CAP_SYS_ADMIN, and the process is in our mount namespace); it is private, and goes
// with the descriptor. Those of another namespace end with that. The file system itself stays in
// use until then.
class FileRoots {
 public:
  // At most so many; one other user's processes have a sixteenth of what the others leave.
  static constexpr size_t kMost = 256;

  explicit FileRoots(const procfs::Roots& roots);

  struct Found {
    symbolize::SharedFd directory;  // null: it is ours, or nothing is known of it
    bool is_new = false;            // nobody had it before
  };
  // The root directory of a process that lives; it is the first of `recent` then.
  Found Of(uint32_t pid);

  // All, those first that were found last.
  const std::vector<symbolize::SharedFd>& recent() const { return recent_; }

 private:
  struct Key {
    FileId directory;
    ino_t mounts = 0;  // the namespace
    bool operator==(const Key&) const = default;
  };

  std::optional<Key> KeyOf(const std::string& process) const;
  symbolize::SharedFd Open(const std::string& process, const Key& key);

  const std::string proc_;
  const std::optional<Key> own_;
  std::vector<Key> keys_;  // of `recent_`
  std::vector<symbolize::SharedFd> recent_;
  FairBudget budget_{kMost};  // of users
};

}  // namespace profiler::record

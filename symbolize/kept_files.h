// Files that a recording keeps open, for names to come from when no path leads to them any more.
//
//   while recording   MMAP2 /usr/bin/x ──▶ opened in the root directory of its process
//                                            file    /proc/self/fd/N
//                                            root    /proc/self/fd/M
//   process, container and file go
//   at the end        an address of it ──▶ Find ──▶ both are opened again, by these names
//
// A descriptor has a name in /proc that opens what it refers to, so whoever looks for files looks
// for these as for any other, the confined process (symbolize/confined) included.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/base/unique_fd.h"

namespace profiler::symbolize {

// A descriptor that several hold.
using SharedFd = std::shared_ptr<const UniqueFd>;

// Thread-safe. Each file has a descriptor as long as this lives; how many there may be is for who
// adds them to mind.
class KeptFiles {
 public:
  struct File {
    std::string path;  // that opens it again in this process
    std::string root;  // likewise, the directory that stands for "/" there; empty: it is ours
  };

  // What tells a file from another one of its name. Containers made from one image have the same
  // files on different devices, so these do not count.
  struct Version {
    ino_t inode = 0;
    off_t size = 0;
    int64_t modified = 0;  // in nanoseconds of CLOCK_REALTIME
    bool operator==(const Version&) const = default;
  };
  // Of an open file; zeros where fstat(2) fails.
  static Version VersionOf(int fd);

  // An image that was mapped under the name `path`. Without a build-id the name alone tells images
  // apart, so all of them are to be added: `file` is null for one that need not be kept. `root` is
  // null for ours.
  void Add(std::string_view path, std::span<const std::byte> build_id, const Version& version,
           SharedFd file, SharedFd root);

  // The image with that build-id; of those without, the only one of that name. Empty: none is kept.
  std::optional<File> Find(std::string_view path, std::span<const std::byte> build_id) const;
  // Whether several images without a build-id had that name, so that nobody can tell which is
  // meant.
  bool HasSeveral(std::string_view path) const;

  // The map of its code (perf-PID.map) that process `pid` has written where no other process finds
  // it. Another file of the same process puts an end to both: nobody can tell which life is meant.
  void AddMap(uint32_t pid, SharedFd file);
  // A path that opens it again in this process; empty: none is kept.
  std::string FindMap(uint32_t pid) const;

  size_t size() const;

 private:
  struct Entry {
    Version version;
    SharedFd file, root;
    bool is_one_of_several = false;
  };

  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, Entry> by_build_id_;
  absl::flat_hash_map<std::string, Entry> by_path_;  // of images without one
  absl::flat_hash_map<uint32_t, Entry> maps_;        // by process
};

}  // namespace profiler::symbolize

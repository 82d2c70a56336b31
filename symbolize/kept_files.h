// Files that a recording keeps open, so that names can be read after their paths are gone.
//
//   while recording   MMAP2 /usr/bin/x ──▶ opened in the root directory of its process
//                                            file    /proc/self/fd/N
//                                            root    /proc/self/fd/M
//   process, container and file go
//   at the end        an address in x ──▶ Find ──▶ file and root are opened again, by these names
//
// /proc has a name for each descriptor, which opens the same file again. So kept files are ordinary
// paths for all code that looks for files, also for the confined process (symbolize/confined).

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

// A descriptor with several owners.
using SharedFd = std::shared_ptr<const UniqueFd>;

// Open files that are found by build-id, path or pid. Each holds a descriptor as long as this
// object lives; the caller of Add limits their number. Thread-safe.
class KeptFiles {
 public:
  struct File {
    std::string path;  // opens the file again in this process
    // Opens the root directory of the file's process; empty: our own root.
    std::string root;
  };

  // Properties that distinguish a file from another one with the same path. The device is not among
  // them, because containers of one container image have the same files on different devices.
  struct Version {
    ino_t inode = 0;
    off_t size = 0;
    int64_t modified = 0;  // time of the last change, in nanoseconds of CLOCK_REALTIME
    bool operator==(const Version&) const = default;
  };
  // Returns the version of an open file; all fields are 0 if fstat(2) fails.
  static Version VersionOf(int fd);

  // Adds an image that was mapped under the name `path`. Only the path identifies an image without
  // a build-id, so the caller adds every such image. `file` is null for an image that need not be
  // kept. `root` is null for our own root directory.
  void Add(std::string_view path, std::span<const std::byte> build_id, const Version& version,
           SharedFd file, SharedFd root);

  // Returns the image with that build-id. With an empty build-id, returns the image of that path if
  // all images added under it are the same file. Empty if none is kept.
  std::optional<File> Find(std::string_view path, std::span<const std::byte> build_id) const;
  // Returns true if different files without a build-id were added under that path, so that the path
  // does not identify one.
  bool HasSeveral(std::string_view path) const;

  // Adds the JIT map (perf-PID.map) of process `pid`, which lies where other processes cannot see
  // it. If a second, different file is added for the same pid, neither is used, because it is
  // unknown which life of the pid is meant.
  void AddMap(uint32_t pid, SharedFd file);
  // Returns a path that opens the map again in this process; empty: none is kept.
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
  absl::flat_hash_map<std::string, Entry> by_path_;  // images without a build-id, keyed by path
  absl::flat_hash_map<uint32_t, Entry> maps_;        // perf-PID.map files, keyed by pid
};

}  // namespace profiler::symbolize

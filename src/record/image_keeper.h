// Keeps the images of a recording open. Before anybody asks for names, processes may end,
// containers may go, and packages may be replaced.
//
//   MMAP2 of a new image: where is its file?
//     our own root directory          not kept open if the file will remain until the end
//     the process's root directory    a container or a chroot, while the process lives
//     root directories met before     the process has ended, others like it have not
//     the process's own mapping       a file that has no name any more
//   nowhere: the image waits for the next new root directory
//
// A file matches if it has the record's build-id, or its device and inode.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/fair_budget.h"
#include "src/base/file_id.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_event/records.h"
#include "src/machine/procfs/build_id.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/file_roots.h"
#include "symbolize/kept_files.h"

namespace profiler::record {

// The keeper. Use it from one thread. A mapping of a known image costs one look-up and no
// allocation; a new image costs some system calls, about 20 µs.
class ImageKeeper {
 public:
  struct Limits {
    uint64_t files = 0;  // limit for the number of descriptors for images
    // True if all processes are recorded. Then our own files are kept open only on the file system
    // of "/", so that other file systems can be unmounted.
    bool system_wide = false;
    // Limit in bytes for removed files, whose blocks stay in use while they are open. Checked now
    // and then.
    uint64_t deleted_bytes = uint64_t{1} << 30;
  };

  // Kept files are added to `kept`.
  ImageKeeper(std::shared_ptr<symbolize::KeptFiles> kept, const procfs::Roots& roots,
              const Limits& limits);

  // Takes a mapping as its MMAP2 record describes it. The same mapping may be passed again.
  void Take(const perf_event::Mmap2& mapping);
  // Looks for the maps of JITs (perf-PID.map) in foreign root directories and pid namespaces. A JIT
  // writes its map some time after it has mapped memory, so call this now and then.
  void LookForMaps();

 private:
  // The state of an image that was met.
  struct Image {
    bool is_settled = false;  // True if the file was found, or if there is no room for it.
    // Number of mappings of the image so far. After the first one, only mappings of living
    // processes count.
    uint32_t tries = 0;
  };
  // A mapped image whose file is looked for.
  struct Wanted {
    std::string path;
    procfs::BuildId build_id{};
    uint32_t maj = 0, min = 0;
    uint64_t ino = 0;
    uint64_t start = 0, end = 0;  // addresses of the mapping in the process
  };
  struct Candidate {
    UniqueFd file;
    symbolize::SharedFd root{};  // null: our own root directory
  };
  // A process that has mapped memory for code and has no map yet.
  struct MapWanted {
    uint32_t pid = 0;
    uint32_t looks = 0;
    uint32_t next = 1;  // value of `looks` at which the map is searched again
  };
  static constexpr size_t kMostMapsWanted = 1024;
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;  // limit in bytes for names
  static constexpr size_t kMostWaiting = 1024;

  // Sets `key_` to the name and the build-id, or without a build-id to the name, device and inode.
  void MakeKey(std::string_view path, std::span<const std::byte> build_id, uint32_t maj,
               uint32_t min, uint64_t ino);
  bool IsAlive(uint32_t pid) const;
  bool Settle(const Wanted& wanted, uint32_t pid);
  std::optional<Candidate> Find(const Wanted& wanted, uint32_t pid);
  UniqueFd OpenBelow(const symbolize::SharedFd& root, const Wanted& wanted) const;
  UniqueFd OpenMapped(const Wanted& wanted, uint32_t pid) const;
  bool Matches(int file, const Wanted& wanted) const;
  bool Keep(const Wanted& wanted, Candidate candidate);
  void WantMap(uint32_t pid);
  bool FindMap(uint32_t pid);
  void FindWaitingBelow(const symbolize::SharedFd& root);
  void CloseDeleted();

  const std::shared_ptr<symbolize::KeptFiles> kept_;
  const std::string proc_;
  const Limits limits_;
  FileRoots roots_;
  std::optional<FileId> own_root_;
  std::string key_;
  absl::flat_hash_map<std::string, Image> images_;
  std::deque<Wanted> waiting_;
  std::vector<MapWanted> maps_wanted_;
  // Processes that WantMap has seen since the last LookForMaps.
  absl::flat_hash_set<uint32_t> looked_at_;
  std::string own_pids_;                    // name of this process's pid namespace
  std::vector<symbolize::SharedFd> files_;  // in the order in which they were met
  FairBudget name_budget_{kMostBytes};      // each process has a share
  FairBudget file_budget_;                  // each user has a share, except root and our own user
  uint64_t met_ = 0;                        // mappings taken since the last CloseDeleted
};

}  // namespace profiler::record

// Keeps the images open that a recording meets, as long as that goes on: processes end, containers
// go, and packages are replaced before anybody asks for names.
//
//   MMAP2 of an image that was not met before: where is its file?
//     our own root directory     one that will be there still is left alone
//     that of the process        a container or a chroot, while the process lives
//     those met before           the process has ended, others like it have not
//     what the process has mapped     a file that has no name any more
//   none: it waits for the next root directory that is met
//
// A file counts if it has the build-id of the record, or its device and inode.

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
#include "src/perf_event/records.h"
#include "src/procfs/build_id.h"
#include "src/procfs/proc_file.h"
#include "src/record/file_roots.h"
#include "symbolize/kept_files.h"

namespace profiler::record {

// One thread. A mapping of an image that is known costs one look-up and no allocation, one that is
// not some system calls, 20 µs or so.
class ImageKeeper {
 public:
  struct Limits {
    uint64_t files = 0;  // descriptors of images
    // All processes are recorded. Then of our own files only those on the file system of "/" are
    // kept open: others could not be unmounted meanwhile.
    bool system_wide = false;
    // Of files that were removed the blocks stay in use as long as they are open: at most so many
    // bytes, which is looked after now and then.
    uint64_t deleted_bytes = uint64_t{1} << 30;
  };

  // `kept` gets what is kept.
  ImageKeeper(std::shared_ptr<symbolize::KeptFiles> kept, const procfs::Roots& roots,
              const Limits& limits);

  // A mapping as an MMAP2 record says it; one may be told again.
  void Take(const perf_event::Mmap2& mapping);
  // Looks for maps of JITs (perf-PID.map) in root directories and pid namespaces of others, which
  // are written some time after the memory was mapped that they are of: to be called now and then.
  void LookForMaps();

 private:
  // What is known of an image once it was met.
  struct Image {
    bool is_settled = false;  // it was found, or there is no room for it
    uint32_t tries = 0;       // else: the first, and those in processes that lived
  };
  // What tells the file of an image.
  struct Wanted {
    std::string path;
    procfs::BuildId build_id{};
    uint32_t maj = 0, min = 0;
    uint64_t ino = 0;
    uint64_t start = 0, end = 0;  // where the process has mapped it
  };
  struct Candidate {
    UniqueFd file;
    symbolize::SharedFd root{};  // null: ours
  };
  // A process that has mapped memory for code, while it has no map yet.
  struct MapWanted {
    uint32_t pid = 0;
    uint32_t looks = 0;
    uint32_t next = 1;  // in the look of that number it is looked for again
  };
  static constexpr size_t kMostMapsWanted = 1024;
  static constexpr uint64_t kMostBytes = uint64_t{32} << 20;  // of names
  static constexpr size_t kMostWaiting = 1024;

  // In `key_`: the name, and what tells files of one name apart.
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
  absl::flat_hash_set<uint32_t> looked_at_;  // processes that need no map, since the last look
  std::string own_pids_;                     // the namespace of numbers that this process is in
  std::vector<symbolize::SharedFd> files_;   // in the order in which they were met
  FairBudget name_budget_{kMostBytes};       // of processes
  FairBudget file_budget_;                   // of users other than root and the effective one
  uint64_t met_ = 0;                         // mappings, since files were looked for that are gone
};

}  // namespace profiler::record

// Describes the processes that already run by the records that the kernel would have written at
// their start.
//
// A recording begins with them: FORK and COMM for each thread, MMAP2 for each executable mapping,
// MMAP for the kernel's text and its modules, KSYMBOL for BPF programs, CGROUP for each cgroup. Their time and id are 0, as
// perf writes them (tools/perf/util/synthetic-events.c, Linux 7.2), so a reader sorts them before
// all other records.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/fair_budget.h"
#include "src/base/status.h"
#include "src/format/perf_event/codec.h"
#include "src/machine/procfs/build_id.h"
#include "src/machine/procfs/memory_map.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

struct SynthesizerOptions {
  Roots roots;
  // Layout of the recording's records: decides the sample_id at the end of each (sample_id_all).
  perf_event::RecordLayout layout;
  // True if MMAP2 records contain the build-ids of images that have one, as the kernel writes them
  // with attr.build_id.
  bool build_ids = false;
  bool namespaces = false;  // True: NAMESPACES of each thread follows its COMM.
  // Directory of the .ko files: /lib/modules/RELEASE.
  std::string modules_directory;
};

// A synthesizer for one thread. Costs some 5 µs per thread and 1 µs per mapping; opens each image
// once.
class Synthesizer {
 public:
  explicit Synthesizer(SynthesizerOptions options) : options_(std::move(options)) {}

  // Adds the kernel's text and modules; nothing if their addresses are hidden from this user.
  void AddKernel();
  // Adds KSYMBOL for each function of the loaded BPF programs that this user may list.
  void AddBpfPrograms();
  // Adds CGROUP, with the id that samples have and the path below the mount point.
  void AddCgroup(uint64_t id, std::string_view path);
  // Adds FORK and COMM of every thread, and MMAP2 of the executable mappings. Skips a process that
  // was added before and threads that end meanwhile. Error: kNotFound if the process is gone.
  absl::Status AddProcess(pid_t pid);
  // Adds every process; skips those that end meanwhile. Errors: those of reading /proc itself.
  absl::Status AddAllProcesses();

  // Returns the processes whose mappings did not all fit; some mappings of each were omitted.
  // kMostMapBytes limits the mapping records of all processes together. One process may use a
  // sixteenth of the bytes that the other processes leave. That is enough for real programs, but
  // not for a program that maps a file under many names of 4 KB.
  static constexpr uint64_t kMostMapBytes = uint64_t{128} << 20;
  const std::vector<pid_t>& cut() const { return cut_; }

  // Returns whole records, without gaps; valid until the next Add.
  std::span<const std::byte> records() const { return records_; }

 private:
  struct ImageKey {
    uint64_t device = 0, ino = 0;
    bool operator==(const ImageKey&) const = default;
    template <class H>
    friend H AbslHashValue(H hash, const ImageKey& key) {
      return H::combine(std::move(hash), key.device, key.ino);
    }
  };

  void AddThread(pid_t pid, pid_t tid, pid_t parent);
  void AddNamespaces(pid_t pid, pid_t tid);
  void AddMaps(pid_t pid);
  void AddMap(pid_t pid, const MemoryMap& map);
  void AddKernelMap(uint64_t start, uint64_t end, uint64_t pgoff, const std::string& name);
  const BuildId& BuildIdOf(pid_t pid, const MemoryMap& map, const std::string& name);

  SynthesizerOptions options_;
  std::vector<std::byte> records_;
  absl::flat_hash_set<pid_t> processes_;
  absl::flat_hash_map<ImageKey, BuildId> build_ids_;
  FairBudget budget_{kMostMapBytes};  // bytes of mapping records that each process may still add
  std::vector<pid_t> cut_;
};

}  // namespace profiler::procfs

// What already runs, as the records that the kernel would have written when it began.
//
// A recording puts them in front: FORK and COMM for each thread, MMAP2 for each executable mapping,
// MMAP for the kernel's text and its modules, KSYMBOL for BPF programs. Their time and id are 0, as
// perf writes them (tools/perf/util/synthetic-events.c, Linux 7.2), so a reader sorts them before
// all else.

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
#include "src/perf_event/codec.h"
#include "src/procfs/build_id.h"
#include "src/procfs/memory_map.h"
#include "src/procfs/proc_file.h"

namespace profiler::procfs {

struct SynthesizerOptions {
  Roots roots;
  // Of the recording: says what stands behind each record (sample_id_all).
  perf_event::RecordLayout layout;
  // MMAP2 carries the image's build-id where it has one, as the kernel writes it with
  // attr.build_id.
  bool build_ids = false;
  // Where the .ko files are: /lib/modules/RELEASE.
  std::string modules_directory;
};

// One thread. Costs some 5 µs a thread and 1 µs a mapping; an image is opened once.
class Synthesizer {
 public:
  explicit Synthesizer(SynthesizerOptions options) : options_(std::move(options)) {}

  // The kernel's text and modules; nothing when their addresses are hidden from us.
  void AddKernel();
  // KSYMBOL of each function of the BPF programs that are loaded, as far as these may be asked for.
  void AddBpfPrograms();
  // FORK and COMM of every thread, and the executable mappings. A process that was added before is
  // left out. kNotFound when it is gone; threads that go meanwhile are left out.
  absl::Status AddProcess(pid_t pid);
  // Every process. Those that end meanwhile are left out. Errors: those of reading /proc itself.
  absl::Status AddAllProcesses();

  // The processes that have more mappings than there is room for, of which a part was left out.
  // Each may have a sixteenth of kMostMapBytes of records that the others leave: all of a program,
  // but not of one that maps a file under any number of names of 4 KB.
  static constexpr uint64_t kMostMapBytes = uint64_t{128} << 20;
  const std::vector<pid_t>& cut() const { return cut_; }

  // Whole records, one behind the other; valid until the next Add.
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
  void AddMaps(pid_t pid);
  void AddMap(pid_t pid, const MemoryMap& map);
  void AddKernelMap(uint64_t start, uint64_t end, uint64_t pgoff, const std::string& name);
  const BuildId& BuildIdOf(pid_t pid, const MemoryMap& map, const std::string& name);

  SynthesizerOptions options_;
  std::vector<std::byte> records_;
  absl::flat_hash_set<pid_t> processes_;
  absl::flat_hash_map<ImageKey, BuildId> build_ids_;
  FairBudget budget_{kMostMapBytes};  // of processes, for the records of their mappings
  std::vector<pid_t> cut_;
};

}  // namespace profiler::procfs

// The threads of a recording as a tree of parents and children.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/records.h"

namespace profiler::report {

enum class TaskDetails : bool { kNone, kMappings };

// A collector of FORK, COMM and MMAP records, which it takes in order of time.
class TaskTree {
 public:
  TaskTree() { tasks_[0] = {.pid = 0, .parent = {}, .comm = "swapper"}; }

  // Takes a record; ignores other types, and records of unknown events.
  void Take(const perf_data::Recording& recording, const perf_data::TimedRecord& timed);

  // Returns the threads in the layout of `perf report --tasks`, or of `--mmaps` with the final
  // mappings of each process (Linux 7.2).
  //
  //   #      pid      tid     ppid  comm
  //            1        1        0 | init
  //          740      740        1 |  sshd
  std::string Text(TaskDetails details) const;

 private:
  struct Task {
    uint32_t pid = 0;
    // for a thread, its process; for a process, the process that started it
    std::optional<uint32_t> parent;
    std::string comm;
  };
  // A mapping of a process.
  struct Mapping {
    uint64_t end = 0, file_offset = 0;
    uint32_t prot = 0, flags = 0;
    std::string id;  // the file's build-id or inode
    std::string name;
  };
  using Mappings = std::map<uint64_t, Mapping>;  // by start, disjoint

  static void Unmap(uint64_t start, uint64_t end, Mappings& mappings);
  Task& TaskOf(uint32_t pid, uint32_t tid);
  void Fork(const perf_event::Task& fork);
  void Map(const perf_event::Mmap2& mmap);
  void Append(uint32_t tid, int depth, const std::map<uint32_t, std::vector<uint32_t>>& below,
              TaskDetails details, std::set<uint32_t>& seen, std::string& text) const;
  void AppendMappings(uint32_t pid, int depth, std::string& text) const;

  std::map<uint32_t, Task> tasks_;         // by tid
  std::map<uint32_t, Mappings> mappings_;  // by pid
};

}  // namespace profiler::report

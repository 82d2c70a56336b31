// Tracks the names of threads over time.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// The threads of a profile. Not thread-safe. Feed it in time order. The profile must outlive the
// table, and only the table may add threads to it.
class ThreadTable {
 public:
  // `merge_by_name`: threads with the same name become one, with pid and tid 0.
  ThreadTable(Profile& profile, bool merge_by_name)
      : profile_(profile), merge_by_name_(merge_by_name) {}

  // Takes a COMM record: the thread has this name from now on.
  void Rename(uint32_t pid, uint32_t tid, std::string_view comm);

  // Takes a FORK record: the child gets its parent's name, even if another thread had the child's
  // tid before. If the parent has no name, the child has none, except for a child of the idle
  // thread.
  void Fork(uint32_t parent_pid, uint32_t parent_tid, uint32_t pid, uint32_t tid);

  // Returns the entry for the thread under its present name. Threads without a name are called
  // ":TID", and the idle thread "swapper", as in perf. If such a thread gets a name later, its
  // entry gets that name.
  ThreadId Find(uint32_t pid, uint32_t tid);

  // Call it at the end: sets the last names of all threads, and merges entries that turned out to
  // be the same thread under the same name. Returns the new entry of each former entry; empty if no
  // entry changed.
  std::vector<ThreadId> Settle();

 private:
  struct State {
    StringId comm = StringId::kEmpty;  // present name; empty: no name yet
    bool has_id = false;
    ThreadId id{};  // entry of the thread under `comm`; valid if has_id
  };

  static uint64_t Key(uint32_t pid, uint32_t tid) { return static_cast<uint64_t>(pid) << 32 | tid; }
  StringId NameOf(uint32_t tid, StringId comm);
  StringId LastName(uint32_t pid, uint32_t tid);
  ThreadId Intern(const Thread& thread);
  std::vector<ThreadId> MergeEqual();

  Profile& profile_;
  const bool merge_by_name_;
  absl::flat_hash_map<uint64_t, State> states_;
  DenseIndex index_;
  bool any_nameless_ = false;  // True if an entry was made for a thread without a name.
};

}  // namespace profiler::profile

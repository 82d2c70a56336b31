// Which thread had which name when.
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

// Fed in time order. Not thread-safe. The profile must outlive it and its threads be made here
// alone.
class ThreadTable {
 public:
  // `merge_by_name`: threads of one name are one, with pid and tid 0.
  ThreadTable(Profile& profile, bool merge_by_name)
      : profile_(profile), merge_by_name_(merge_by_name) {}

  // COMM: the thread has this name from now on.
  void Rename(uint32_t pid, uint32_t tid, std::string_view comm);

  // FORK: the child has its parent's name, whoever had its tid before. A child of a parent without
  // a name has none, unless that is the idle thread.
  void Fork(uint32_t parent_pid, uint32_t parent_tid, uint32_t pid, uint32_t tid);

  // The entry for the thread under its present name. Threads that nothing has named are called
  // ":TID", and the idle thread "swapper", as perf calls them.
  // In the end such a thread has its first name from its first sample on.
  ThreadId Find(uint32_t pid, uint32_t tid);

  // At the end: gives all threads their last names, and those that turned out to be the same under
  // one name one entry. By former entry: the one that stands for it now; empty where none moved.
  std::vector<ThreadId> Settle();

 private:
  struct State {
    StringId comm = StringId::kEmpty;  // empty: not named
    bool has_id = false;
    ThreadId id{};  // under this comm, once it was asked for
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
  bool any_nameless_ = false;  // had an entry before they had a name
};

}  // namespace profiler::profile

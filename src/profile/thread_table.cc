#include "src/profile/thread_table.h"

#include "absl/strings/str_cat.h"

namespace profiler::profile {
namespace {

constexpr std::string_view kIdle = "swapper";

}  // namespace

void ThreadTable::Rename(uint32_t pid, uint32_t tid, std::string_view comm) {
  recent_.Forget();
  states_[Key(pid, tid)] = {.comm = profile_.strings.Intern(comm)};
}

void ThreadTable::Fork(uint32_t parent_pid, uint32_t parent_tid, uint32_t pid, uint32_t tid) {
  recent_.Forget();
  const auto parent = states_.find(Key(parent_pid, parent_tid));
  StringId comm = parent == states_.end() ? StringId::kEmpty : parent->second.comm;
  if (comm == StringId::kEmpty && parent_tid == 0) comm = profile_.strings.Intern(kIdle);
  states_[Key(pid, tid)] = {.comm = comm};
}

ThreadId ThreadTable::LookUp(uint32_t pid, uint32_t tid) {
  const uint64_t key = Key(pid, tid);
  State& state = states_[key];
  if (!state.has_id) {
    StringId comm = state.comm;
    if (comm == StringId::kEmpty) {
      const std::string unnamed =
          tid == 0 ? std::string(kIdle) : absl::StrCat(":", static_cast<int32_t>(tid));
      comm = profile_.strings.Intern(unnamed);
    }
    state.id = merge_by_name_ ? Intern({0, 0, comm}) : Intern({pid, tid, comm});
    state.has_id = true;
  }
  recent_.Remember(key, state.id);
  return state.id;
}

ThreadId ThreadTable::Intern(const Thread& thread) {
  return ThreadId(index_.FindOrInsert(
      Mix(Key(thread.pid, thread.tid), static_cast<uint64_t>(thread.comm)),
      [&](uint32_t id) {
        const Thread& known = profile_.threads[id];
        return known.pid == thread.pid && known.tid == thread.tid && known.comm == thread.comm;
      },
      [&] {
        profile_.threads.push_back(thread);
        return static_cast<uint32_t>(profile_.threads.size() - 1);
      }));
}

}  // namespace profiler::profile

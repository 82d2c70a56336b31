#include "src/profile/thread_table.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::profile {
namespace {

constexpr std::string_view kIdle = "swapper";

}  // namespace

void ThreadTable::Rename(uint32_t pid, uint32_t tid, std::string_view comm) {
  State& state = states_[Key(pid, tid)];
  const bool is_first_name = state.comm == StringId::kEmpty;
  state.comm = profile_.strings.Intern(comm);
  if (is_first_name && state.has_id) {
    profile_.threads[static_cast<uint32_t>(state.id)].comm = state.comm;
  } else {
    state.has_id = false;
  }
}

void ThreadTable::Fork(uint32_t parent_pid, uint32_t parent_tid, uint32_t pid, uint32_t tid) {
  const auto parent = states_.find(Key(parent_pid, parent_tid));
  StringId comm = parent == states_.end() ? StringId::kEmpty : parent->second.comm;
  if (comm == StringId::kEmpty && parent_tid == 0) comm = profile_.strings.Intern(kIdle);
  states_[Key(pid, tid)] = {.comm = comm};
}

// Returns the name `comm`. If it is empty, returns perf's name for a thread without a name.
StringId ThreadTable::NameOf(uint32_t tid, StringId comm) {
  if (comm != StringId::kEmpty) return comm;
  return profile_.strings.Intern(tid == 0 ? std::string(kIdle)
                                          : absl::StrCat(":", static_cast<int32_t>(tid)));
}

ThreadId ThreadTable::Find(uint32_t pid, uint32_t tid) {
  State& state = states_[Key(pid, tid)];
  if (!state.has_id) {
    const Thread thread{.pid = merge_by_name_ ? 0 : pid,
                        .tid = merge_by_name_ ? 0 : tid,
                        .comm = NameOf(tid, state.comm)};
    if (state.comm == StringId::kEmpty) {
      // A separate entry, because its name may still arrive.
      any_nameless_ = true;
      state.id = ThreadId{static_cast<uint32_t>(profile_.threads.size())};
      profile_.threads.push_back(thread);
    } else {
      state.id = Intern(thread);
    }
    state.has_id = true;
  }
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

StringId ThreadTable::LastName(uint32_t pid, uint32_t tid) {
  const auto state = states_.find(Key(pid, tid));
  return NameOf(tid, state == states_.end() ? StringId::kEmpty : state->second.comm);
}

std::vector<ThreadId> ThreadTable::Settle() {
  if (!merge_by_name_) {
    for (Thread& thread : profile_.threads) {
      thread.last_comm = LastName(thread.pid, thread.tid);
      thread.process_comm = LastName(thread.pid, thread.pid);
    }
  }
  return any_nameless_ ? MergeEqual() : std::vector<ThreadId>();
}

std::vector<ThreadId> ThreadTable::MergeEqual() {
  const std::vector<Thread> threads = std::exchange(profile_.threads, {});
  index_ = {};
  std::vector<ThreadId> merged;
  merged.reserve(threads.size());
  for (const Thread& thread : threads) merged.push_back(Intern(thread));
  for (auto& [key, state] : states_) {
    if (state.has_id) state.id = merged[static_cast<uint32_t>(state.id)];
  }
  const bool any_moved = profile_.threads.size() != threads.size();
  return any_moved ? merged : std::vector<ThreadId>();
}

}  // namespace profiler::profile

// Sums up the branch stacks of samples into the branch rows of a profile.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// The branch rows of a profile. Not thread-safe. The profile must outlive the table, and only the
// table may add branches to it.
class BranchTable {
 public:
  explicit BranchTable(Profile& profile) : profile_(profile) {}

  // Counts the branches of one sample. `entries` is its branch stack (perf_event::BranchEntry).
  // `frame_at` returns the frame of an address in the process; it is called once for each address.
  void Add(EventId event, ThreadId thread, uint32_t pid, std::span<const std::byte> entries,
           absl::FunctionRef<FrameId(uint64_t address)> frame_at);

  // Forgets frames of addresses; call it when an address space has changed.
  void ForgetFrames() { frames_.clear(); }

  // Replaces the thread of each row by `threads[thread]`, as RowTable::PutThreads does.
  void PutThreads(std::span<const ThreadId> threads);

 private:
  void Count(const BranchRow& branch);

  Profile& profile_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, FrameId> frames_;  // keyed by pid and address
  absl::flat_hash_map<std::tuple<EventId, ThreadId, FrameId, FrameId, uint16_t, BranchOutcome>,
                      uint32_t>
      rows_;
};

}  // namespace profiler::profile

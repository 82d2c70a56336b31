#include "src/profile/branch_table.h"

#include <utility>

#include "src/format/perf_event/records.h"

namespace profiler::profile {

namespace {

// Source: perf_event::BranchEntry::flags.
BranchOutcome OutcomeOf(uint64_t flags) {
  constexpr uint64_t kMispredictedBit = 1, kPredictedBit = 2;
  if ((flags & kPredictedBit) != 0) return BranchOutcome::kPredicted;
  if ((flags & kMispredictedBit) != 0) return BranchOutcome::kMispredicted;
  return BranchOutcome::kUnknown;
}

}  // namespace

void BranchTable::Add(EventId event, ThreadId thread, uint32_t pid,
                      std::span<const std::byte> entries,
                      absl::FunctionRef<FrameId(uint64_t address)> frame_at) {
  const auto frame = [&](uint64_t address) {
    const auto [known, is_new] = frames_.try_emplace({pid, address});
    if (is_new) known->second = frame_at(address);
    return known->second;
  };
  const perf_event::U64Array words(entries);
  for (size_t i = 0; i + 2 < words.size(); i += 3) {
    const uint64_t flags = words[i + 2];
    Count({.event = event,
           .thread = thread,
           .from = frame(words[i]),
           .to = frame(words[i + 1]),
           .cycles = static_cast<uint16_t>(flags >> 4),
           .outcome = OutcomeOf(flags),
           .count = 1});
  }
}

void BranchTable::Count(const BranchRow& branch) {
  const std::tuple key(branch.event, branch.thread, branch.from, branch.to, branch.cycles,
                       branch.outcome);
  const auto [row, is_new] =
      rows_.try_emplace(key, static_cast<uint32_t>(profile_.branches.size()));
  if (is_new) {
    profile_.branches.push_back(branch);
  } else {
    profile_.branches[row->second].count += branch.count;
  }
}

void BranchTable::PutThreads(std::span<const ThreadId> threads) {
  rows_.clear();
  for (BranchRow branch : std::exchange(profile_.branches, {})) {
    branch.thread = threads[static_cast<uint32_t>(branch.thread)];
    Count(branch);
  }
}

}  // namespace profiler::profile

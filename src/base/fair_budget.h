// Divides a memory budget among several takers, any of which may try to take all of it.

#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace profiler {

// A budget in bytes or any other unit. Each taker may have up to a sixteenth of what the others
// leave, so later takers always get something. Not thread-safe. Memory: some bytes per taker.
//
// A part of the budget may be common: a taker that has used up its share takes from the common part
// while something is left. Shares are computed without the common part, so they do not depend on
// its use.
class FairBudget {
 public:
  explicit FairBudget(uint64_t whole, uint64_t common = 0)
      : whole_(whole - std::min(whole, common)), common_(common) {}

  // Takes `amount` for `who` and returns true. If `amount` is too much, takes nothing and returns
  // false.
  bool Take(uint32_t who, uint64_t amount) {
    constexpr uint64_t kShares = 16;
    Taken& its = taken_[who];
    const uint64_t of_others = all_ - its.share;
    const uint64_t most = (whole_ - std::min(whole_, of_others)) / kShares;
    if (amount <= most && its.share <= most - amount) {
      its.share += amount;
      all_ += amount;
      return true;
    }
    if (amount > common_) return false;
    its.common += amount;
    common_ -= amount;
    return true;
  }

  // Gives `amount`, which `who` has taken, back to the budget.
  void Return(uint32_t who, uint64_t amount) {
    const auto found = taken_.find(who);
    if (found == taken_.end()) return;
    Taken& its = found->second;
    const uint64_t of_common = std::min(amount, its.common);
    its.common -= of_common;
    common_ += of_common;
    const uint64_t of_share = std::min(amount - of_common, its.share);
    its.share -= of_share;
    all_ -= of_share;
    if (its.share == 0 && its.common == 0) taken_.erase(found);
  }

 private:
  struct Taken {
    uint64_t share = 0, common = 0;
  };

  const uint64_t whole_;  // size of the budget without its common part
  uint64_t common_;       // amount that is left in the common part
  uint64_t all_ = 0;      // amount of whole_ that is taken
  absl::flat_hash_map<uint32_t, Taken> taken_;
};

}  // namespace profiler

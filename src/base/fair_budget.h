// Memory that several contribute to, of whom any may try to take it all.

#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace profiler {

// Each may take up to a sixteenth of what the others have left of the whole, so nobody can take it
// from somebody who comes later. Bytes, or whatever else is counted. Not thread-safe. Memory: some
// bytes for each who takes.
class FairBudget {
 public:
  explicit FairBudget(uint64_t whole) : whole_(whole) {}

  // Whether `who` may have so much more; then it is taken.
  bool Take(uint32_t who, uint64_t amount) {
    constexpr uint64_t kShares = 16;
    uint64_t& its = taken_[who];
    const uint64_t of_others = all_ - its;
    const uint64_t most = (whole_ - std::min(whole_, of_others)) / kShares;
    if (amount > most || its > most - amount) return false;
    its += amount;
    all_ += amount;
    return true;
  }

  // Somebody gives back what he took.
  void Return(uint32_t who, uint64_t amount) {
    const auto its = taken_.find(who);
    if (its == taken_.end()) return;
    const uint64_t less = std::min(amount, its->second);
    its->second -= less;
    all_ -= less;
    if (its->second == 0) taken_.erase(its);
  }

 private:
  const uint64_t whole_;
  uint64_t all_ = 0;
  absl::flat_hash_map<uint32_t, uint64_t> taken_;
};

}  // namespace profiler

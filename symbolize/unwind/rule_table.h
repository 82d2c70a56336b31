// Gives each distinct rule a number. Compiled code needs only a few hundred distinct rules.
//
// Private to this package.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::symbolize {

// Distinct rules; each is found by its number. Not thread-safe.
class RuleTable {
 public:
  // `most` is the largest number of rules, up to 65536.
  explicit RuleTable(size_t most) : most_(most) {}

  // Returns the number of a rule. Numbers count from 0, in order of addition. Empty if the table is
  // full.
  std::optional<uint16_t> Intern(const UnwindRule& rule) {
    const auto bits = std::bit_cast<uint64_t>(rule);
    const auto it = numbers_.find(bits);
    if (it != numbers_.end()) return it->second;
    if (rules_.size() == most_) return std::nullopt;
    const auto number = static_cast<uint16_t>(rules_.size());
    rules_.push_back(rule);
    numbers_.emplace(bits, number);
    return number;
  }
  const UnwindRule& operator[](uint16_t number) const { return rules_[number]; }
  size_t memory_used() const {
    return rules_.capacity() * sizeof(UnwindRule) +
           numbers_.capacity() * (sizeof(uint64_t) + sizeof(uint64_t) + 1);
  }

 private:
  const size_t most_;
  std::vector<UnwindRule> rules_;
  absl::flat_hash_map<uint64_t, uint16_t> numbers_;
};

}  // namespace profiler::symbolize

// The compiled rules of functions. Each function has rows that are sorted by address. Functions are
// added one after the other.
//
//   slots_[function] ──▶ {number of rows}, {distance from the function's start, rule} …,
//                        {size of the function, no rule}
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_budget.h"
#include "symbolize/unwind/rule_table.h"

namespace profiler::symbolize {

// Rows of rules. Not thread-safe.
class RuleRows {
 public:
  // `budget` may be null. It must already have given kBytesOfFunction for each function.
  RuleRows(size_t functions, FrameBudget* budget) : budget_(budget), slots_(functions) {
    rules_.Intern({});
    rules_.Intern({.kind = UnwindRule::kFull});
    AddRow(0, kNoRuleNumber);  // so that no function's rows begin at index 0
  }
  ~RuleRows() {
    if (budget_ != nullptr) budget_->GiveMemoryBack(taken_);
  }
  RuleRows(const RuleRows&) = delete;

  // Memory that a function without rows needs, in bytes.
  static constexpr uint64_t kBytesOfFunction = sizeof(uint32_t);

  bool Has(size_t function) const { return slots_[function] != 0; }

  // Returns the rule at a distance in a function for which Has is true.
  UnwindRule Find(size_t function, uint64_t distance) const {
    const auto first = distances_.begin() + slots_[function] + 1;
    const auto last = first + distances_[slots_[function]];
    const auto after = std::upper_bound(first, last, distance);
    return rules_[numbers_[static_cast<size_t>(after - distances_.begin()) - 1]];
  }

  // Begins a function. Then add its rows in order, at distances of less than 2^32 bytes from its
  // start, and call End. Distances of at least `size` (End) have no rule.
  void Start(size_t function) {
    slots_[function] = static_cast<uint32_t>(distances_.size());
    slot_ = slots_[function];
    AddRow(0, kNoRuleNumber);  // End stores the number of rows here
  }
  // Adds a row, unless it equals the previous one. If the rule table is full, a new rule becomes
  // kFull.
  void Add(uint64_t distance, const UnwindRule& rule) {
    const uint16_t number = rules_.Intern(rule).value_or(kFullNumber);
    const bool is_first = distances_.size() == slot_ + 1;
    if (is_first || numbers_.back() != number) AddRow(distance, number);
  }
  void End(uint64_t size) {
    AddRow(size, kNoRuleNumber);
    distances_[slot_] = static_cast<uint32_t>(distances_.size() - slot_ - 1);
  }

  // Returns true if the budget is used up. Rows can still be added, but only the current function
  // should be finished.
  bool is_full() const { return is_full_; }

  size_t memory_used() const {
    return slots_.capacity() * sizeof(uint32_t) + distances_.capacity() * sizeof(uint32_t) +
           numbers_.capacity() * sizeof(uint16_t) + rules_.memory_used();
  }

 private:
  // Numbers of the rules for addresses without a rule, and for rules that no longer fit into the
  // table.
  static constexpr uint16_t kNoRuleNumber = 0, kFullNumber = 1;

  void AddRow(uint64_t distance, uint16_t number) {
    // Grows by an eighth instead of doubling, so that less of the table is unused.
    if (distances_.size() == distances_.capacity()) Grow(distances_.size() / 8 + 1024);
    distances_.push_back(static_cast<uint32_t>(distance));
    numbers_.push_back(number);
  }

  void Grow(size_t rows) {
    const uint64_t bytes = rows * (sizeof(uint32_t) + sizeof(uint16_t));
    if (budget_ != nullptr && budget_->TakeMemory(bytes)) {
      taken_ += bytes;
    } else if (budget_ != nullptr) {
      is_full_ = true;
    }
    distances_.reserve(distances_.size() + rows);
    numbers_.reserve(numbers_.size() + rows);
  }

  FrameBudget* const budget_;  // null: no budget
  uint64_t taken_ = 0;         // bytes taken from the budget
  bool is_full_ = false;
  std::vector<uint32_t> slots_;  // [n]: index of function n's number of rows; 0: not compiled yet
  size_t slot_ = 0;              // slot of the function to which rows are added
  std::vector<uint32_t> distances_;
  std::vector<uint16_t> numbers_;
  RuleTable rules_{size_t{1} << 16};  // has room for as many rules as a u16 can number
};

}  // namespace profiler::symbolize

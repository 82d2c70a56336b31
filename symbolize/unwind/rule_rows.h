// The rules of functions, address by address, as they are compiled one function after the other.
//
//   slots_[function] ──▶ {number of rows}, {distance, rule} …, {size, none}
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

// Not thread-safe.
class RuleRows {
 public:
  // `budget` may be null. It has given the memory of a slot for each function.
  RuleRows(size_t functions, FrameBudget* budget) : budget_(budget), slots_(functions) {
    rules_.Intern({});
    rules_.Intern({.kind = UnwindRule::kFull});
    AddRow(0, kNoRuleNumber);  // so that no function's rows begin at 0
  }
  ~RuleRows() {
    if (budget_ != nullptr) budget_->GiveMemoryBack(taken_);
  }
  RuleRows(const RuleRows&) = delete;

  // The memory of a slot.
  static constexpr uint64_t kBytesOfFunction = sizeof(uint32_t);

  bool Has(size_t function) const { return slots_[function] != 0; }

  // Of one that it has.
  UnwindRule Find(size_t function, uint64_t distance) const {
    const auto first = distances_.begin() + slots_[function] + 1;
    const auto last = first + distances_[slots_[function]];
    const auto after = std::upper_bound(first, last, distance);
    return rules_[numbers_[static_cast<size_t>(after - distances_.begin()) - 1]];
  }

  // The rows of a function are added between these two, in their order and less than 2^32 bytes
  // from its start. There no rule is known from `size` on.
  void Start(size_t function) {
    slots_[function] = static_cast<uint32_t>(distances_.size());
    slot_ = slots_[function];
    AddRow(0, kNoRuleNumber);  // the number of rows, later
  }
  // One that is as the row before takes no room. Where there are no more numbers it is taken for
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

  // The budget has no room for more. Rows are still taken: those of the function at hand, which
  // should be few.
  bool is_full() const { return is_full_; }

  size_t memory_used() const {
    return slots_.capacity() * sizeof(uint32_t) + distances_.capacity() * sizeof(uint32_t) +
           numbers_.capacity() * sizeof(uint16_t) + rules_.memory_used();
  }

 private:
  // Of the rules of an image: what is said where there is none, and what one is taken for when
  // there are no more numbers.
  static constexpr uint16_t kNoRuleNumber = 0, kFullNumber = 1;

  void AddRow(uint64_t distance, uint16_t number) {
    // By an eighth and not by two, or half of the table would be air.
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

  FrameBudget* const budget_;  // null: none
  uint64_t taken_ = 0;         // of its memory
  bool is_full_ = false;
  std::vector<uint32_t> slots_;  // by function; 0: not compiled yet
  size_t slot_ = 0;              // of the function whose rows are being added
  std::vector<uint32_t> distances_;
  std::vector<uint16_t> numbers_;
  RuleTable rules_{size_t{1} << 16};  // as many as numbers_ can tell apart
};

}  // namespace profiler::symbolize

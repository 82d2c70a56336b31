#include "src/profile/sums_order.h"

#include <utility>

#include "src/base/radix_sort.h"

namespace profiler::profile {
namespace {

using Order = HugeVector<uint32_t>;    // by new number: the old one
using Numbers = HugeVector<uint32_t>;  // by old number: the new one

constexpr uint32_t kNone = SampleSums::kNone;

template <class Id>
uint32_t NumberOf(Id id) {
  return static_cast<uint32_t>(id);
}

Numbers NumbersOf(const Order& order) {
  Numbers numbers(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) numbers[order[i]] = i;
  return numbers;
}

template <class T>
void Rearrange(HugeVector<T>& table, const Order& order) {
  HugeVector<T> moved;
  moved.reserve(table.size());
  for (const uint32_t i : order) moved.push_back(table[i]);
  table = std::move(moved);
}

Order OrderOfFrames(const SampleSums& sums) {
  const auto& frames = sums.frames;
  RadixSort sort(static_cast<uint32_t>(frames.size()));
  sort.SortBy([&](uint32_t i) { return frames[i].mode * 2u + (frames[i].return_address ? 1 : 0); });
  sort.SortBy([&](uint32_t i) { return frames[i].offset; });
  sort.SortBy([&](uint32_t i) { return frames[i].image == kNone ? 0 : frames[i].image + 1; });
  return sort.Order();
}

// Who calls whom the other way round.
class Callees {
 public:
  explicit Callees(const HugeVector<StackNode>& stacks)
      : stacks_(stacks), first_(stacks.size() + 1, kNone), next_(stacks.size()) {
    RadixSort sort(static_cast<uint32_t>(stacks.size()));
    sort.SortBy([&](uint32_t i) { return NumberOf(stacks[i].frame); });
    const Order by_frame = sort.Order();
    for (size_t i = by_frame.size(); i-- > 0;) {
      next_[by_frame[i]] =
          std::exchange(FirstOf(NumberOf(stacks[by_frame[i]].parent)), by_frame[i]);
    }
  }

  Order DepthFirst() {
    Order order;
    order.reserve(stacks_.size());
    uint32_t at = FirstOf(kNone);
    while (at != kNone) {
      order.push_back(at);
      if (FirstOf(at) != kNone) {
        at = FirstOf(at);
        continue;
      }
      while (at != kNone && next_[at] == kNone) at = NumberOf(stacks_[at].parent);
      if (at != kNone) at = next_[at];
    }
    return order;
  }

 private:
  // Those without a caller are the last one's.
  uint32_t& FirstOf(uint32_t stack) { return first_[stack == kNone ? stacks_.size() : stack]; }

  const HugeVector<StackNode>& stacks_;
  HugeVector<uint32_t> first_;  // by stack
  HugeVector<uint32_t> next_;   // by stack: of the same caller
};

Order OrderOfRows(const SampleSums& sums) {
  const auto& rows = sums.rows;
  RadixSort sort(static_cast<uint32_t>(rows.size()));
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].self); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].stack); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].thread); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].event); });
  return sort.Order();
}

}  // namespace

void PutInOrder(SampleSums& sums) {
  const Order frames = OrderOfFrames(sums);
  Rearrange(sums.frames, frames);
  const Numbers frame_numbers = NumbersOf(frames);
  for (StackNode& stack : sums.stacks) stack.frame = FrameId{frame_numbers[NumberOf(stack.frame)]};

  const Order stacks = Callees(sums.stacks).DepthFirst();
  Rearrange(sums.stacks, stacks);
  const Numbers stack_numbers = NumbersOf(stacks);
  for (StackNode& stack : sums.stacks) {
    if (stack.parent != kNoStack) stack.parent = StackId{stack_numbers[NumberOf(stack.parent)]};
  }

  for (Row& row : sums.rows) {
    row.stack = StackId{stack_numbers[NumberOf(row.stack)]};
    row.self = FrameId{frame_numbers[NumberOf(row.self)]};
  }
  Rearrange(sums.rows, OrderOfRows(sums));
}

}  // namespace profiler::profile

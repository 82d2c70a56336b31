#include "src/profile/profile_order.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/base/radix_sort.h"

namespace profiler::profile {
namespace {

using Order = HugeVector<uint32_t>;    // [new number]: old number
using Numbers = HugeVector<uint32_t>;  // [old number]: new number

constexpr auto kNone = static_cast<uint32_t>(kNoStack);

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

Order OrderOfFrames(const HugeVector<Frame>& frames) {
  RadixSort sort(static_cast<uint32_t>(frames.size()));
  sort.SortBy([&](uint32_t i) {
    return static_cast<uint32_t>(frames[i].mode) * 2 + (frames[i].return_address ? 1 : 0);
  });
  sort.SortBy([&](uint32_t i) { return frames[i].place.value; });
  sort.SortBy([&](uint32_t i) { return NumberOf(frames[i].image); });
  return sort.Order();
}

// The callees of each stack.
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
  // Stacks without a caller are listed under the last index.
  uint32_t& FirstOf(uint32_t stack) { return first_[stack == kNone ? stacks_.size() : stack]; }

  const HugeVector<StackNode>& stacks_;
  HugeVector<uint32_t> first_;  // [n]: first callee of stack n
  HugeVector<uint32_t> next_;   // [n]: the next callee of stack n's caller
};

Order OrderOfRows(const Profile& profile) {
  const HugeVector<Row>& rows = profile.rows;
  const std::vector<ThreadId> name = FirstOfSameName(profile);
  RadixSort sort(static_cast<uint32_t>(rows.size()));
  for (const HugeVector<uint32_t>& column : profile.columns) {
    if (!column.empty()) sort.SortBy([&](uint32_t i) { return column[i]; });
  }
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].thread); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].self); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].stack); });
  sort.SortBy([&](uint32_t i) { return NumberOf(name[NumberOf(rows[i].thread)]); });
  sort.SortBy([&](uint32_t i) { return NumberOf(rows[i].event); });
  return sort.Order();
}

}  // namespace

std::vector<ThreadId> FirstOfSameName(const Profile& profile) {
  absl::flat_hash_map<StringId, ThreadId> first_of;
  std::vector<ThreadId> first;
  first.reserve(profile.threads.size());
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    first.push_back(first_of.try_emplace(profile.threads[i].comm, ThreadId{i}).first->second);
  }
  return first;
}

bool CanPutInOrder(const Profile& profile) {
  return profile.branches.empty() && profile.data.empty() && profile.trace_functions.empty() &&
         profile.order.empty();
}

void PutInOrder(Profile& profile) {
  const Order frames = OrderOfFrames(profile.frames);
  Rearrange(profile.frames, frames);
  const Numbers frame_numbers = NumbersOf(frames);
  for (StackNode& stack : profile.stacks) {
    stack.frame = FrameId{frame_numbers[NumberOf(stack.frame)]};
  }

  const Order stacks = Callees(profile.stacks).DepthFirst();
  Rearrange(profile.stacks, stacks);
  const Numbers stack_numbers = NumbersOf(stacks);
  for (StackNode& stack : profile.stacks) {
    if (stack.parent != kNoStack) stack.parent = StackId{stack_numbers[NumberOf(stack.parent)]};
  }

  for (Row& row : profile.rows) {
    row.stack = StackId{stack_numbers[NumberOf(row.stack)]};
    row.self = FrameId{frame_numbers[NumberOf(row.self)]};
  }
  const Order rows = OrderOfRows(profile);
  Rearrange(profile.rows, rows);
  for (HugeVector<uint32_t>& column : profile.columns) {
    if (!column.empty()) Rearrange(column, rows);
  }
}

}  // namespace profiler::profile

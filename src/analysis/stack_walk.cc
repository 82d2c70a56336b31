#include "src/analysis/stack_walk.h"

#include <algorithm>
#include <vector>

#include "src/base/radix_sort.h"

namespace profiler::analysis {

using profile::kNoStack;
using profile::StackId;
using profile::StackNode;

namespace {

// True if each stack follows its caller or the last stack of the subtree of a sibling.
bool IsDepthFirst(std::span<const StackNode> stacks) {
  std::vector<StackId> path = {kNoStack};  // [depth]: node of the present stack
  uint32_t depth = 0;
  for (uint32_t i = 0; i < stacks.size(); ++i) {
    const StackNode& stack = stacks[i];
    if (stack.depth - 1 > depth || stack.parent != path[stack.depth - 1]) return false;
    depth = stack.depth;
    if (depth == path.size()) path.emplace_back();
    path[depth] = StackId{i};
  }
  return true;
}

}  // namespace

HugeVector<uint32_t> DepthFirst(std::span<const StackNode> stacks) {
  if (IsDepthFirst(stacks)) return {};
  // A caller's id is lower than its callees'.
  HugeVector<uint32_t> sizes(stacks.size(), 1);  // sizes of the subtrees
  for (size_t i = stacks.size(); i-- > 0;) {
    if (stacks[i].parent != kNoStack) sizes[static_cast<uint32_t>(stacks[i].parent)] += sizes[i];
  }
  HugeVector<uint32_t> numbers(stacks.size());
  uint32_t next_root = 0;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const StackId caller = stacks[i].parent;
    uint32_t& next = caller == kNoStack ? next_root : sizes[static_cast<uint32_t>(caller)];
    const uint32_t size = sizes[i];
    numbers[i] = next;
    next += size;
    sizes[i] = numbers[i] + 1;  // from here on, sizes[i] is the number of its next callee
  }
  return numbers;
}

void SortDepthFirst(const profile::Profile& profile, const HugeVector<uint32_t>& numbers,
                    std::span<uint32_t> rows) {
  const auto number_of = [&](uint32_t row) {
    const auto stack = static_cast<uint32_t>(profile.rows[row].stack);
    return numbers.empty() ? stack : numbers[stack];
  };
  const auto before = [&](uint32_t a, uint32_t b) { return number_of(a) < number_of(b); };
  if (std::is_sorted(rows.begin(), rows.end(), before)) return;
  RadixSort sort(static_cast<uint32_t>(rows.size()));
  sort.SortBy([&](uint32_t i) { return number_of(rows[i]); });
  HugeVector<uint32_t> sorted = sort.Order();
  for (uint32_t& row : sorted) row = rows[row];
  std::copy(sorted.begin(), sorted.end(), rows.begin());
}

}  // namespace profiler::analysis

#include "src/report/stack_trie.h"

#include <algorithm>

namespace profiler::report {

using profile::FrameId;
using profile::kNoStack;
using profile::StackId;
using profile::StackNode;

namespace {

constexpr size_t kFirstSlots = 1024;
constexpr uint16_t kDeepest = std::numeric_limits<uint16_t>::max();

size_t HashChild(NodeId parent, FunctionId function) {
  uint64_t key = (uint64_t{parent} << 32) | function;
  key *= 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: spreads neighbours
  return key ^ (key >> 32);
}

uint64_t PathBit(uint32_t bucket) { return uint64_t{1} << ((bucket * 0x9e3779b1u) >> 26); }

}  // namespace

StackTrie::StackTrie(const profile::Profile& profile, const FunctionTable& functions,
                     std::span<const uint32_t> buckets, ChainOrder order, uint32_t max_stack)
    : profile_(profile),
      functions_(functions),
      buckets_(buckets),
      order_(order),
      max_stack_(std::max<uint32_t>(max_stack, 1)),
      node_of_(profile.stacks.size(), kNoNode),
      slots_(kFirstSlots, kNoNode) {}

NodeId StackTrie::StartGroup() {
  group_ = NewNode(kNoNode, kNoFunction);
  return group_;
}

NodeId StackTrie::Add(StackId stack, const Weight& weight) {
  const bool cut = order_ == ChainOrder::kCallee && profile_[stack].depth > max_stack_;
  const NodeId leaf = cut ? AddInnermost(stack) : AddWhole(stack);
  nodes_[leaf].weight += weight;
  return leaf;
}

NodeId StackTrie::AddWhole(StackId stack) {
  // Up to what this group has already…
  path_.clear();
  NodeId node = group_;
  while (stack != kNoStack) {
    const StackNode& at = profile_[stack];
    const NodeId known = node_of_[static_cast<uint32_t>(stack)];
    if (known != kNoNode && known > group_) {
      node = known;
      break;
    }
    if (at.depth <= max_stack_) path_.push_back(stack);
    stack = at.parent;
  }
  // … and down again, adding the rest.
  for (size_t i = path_.size(); i-- > 0;) {
    node = AddFrame(node, profile_[path_[i]].frame);
    node_of_[static_cast<uint32_t>(path_[i])] = node;
  }
  return node;
}

NodeId StackTrie::AddInnermost(StackId stack) {
  path_.clear();
  while (path_.size() < max_stack_ && stack != kNoStack) {
    path_.push_back(stack);
    stack = profile_[stack].parent;
  }
  NodeId node = group_;
  for (size_t i = path_.size(); i-- > 0;) node = AddFrame(node, profile_[path_[i]].frame);
  return node;
}

NodeId StackTrie::AddFrame(NodeId node, FrameId frame) {
  for (const FunctionId function : functions_.At(frame)) node = Child(node, function);
  return node;
}

NodeId StackTrie::Child(NodeId parent, FunctionId function) {
  const size_t mask = slots_.size() - 1;
  size_t slot = HashChild(parent, function) & mask;
  for (; slots_[slot] != kNoNode; slot = (slot + 1) & mask) {
    const TrieNode& node = nodes_[slots_[slot]];
    if (node.parent == parent && node.function == function) return slots_[slot];
  }
  const NodeId node = NewNode(parent, function);
  slots_[slot] = node;
  if (nodes_.size() * 2 > slots_.size()) Grow();
  return node;
}

NodeId StackTrie::NewNode(NodeId parent, FunctionId function) {
  const NodeId id = size();
  TrieNode node{.parent = parent, .function = function};
  uint64_t passed = 0;
  if (parent != kNoNode) {
    const uint32_t bucket = buckets_[function];
    TrieNode& above = nodes_[parent];
    node.depth = above.depth == kDeepest ? kDeepest : above.depth + 1;
    node.next_sibling = above.first_child;
    above.first_child = id;
    passed = passed_[parent];
    if (passed & PathBit(bucket)) {
      NodeId same = parent;
      while (!IsRoot(same) && buckets_[nodes_[same].function] != bucket) same = nodes_[same].parent;
      if (!IsRoot(same)) node.same_above = same;
    }
    passed |= PathBit(bucket);
  }
  node.deepest = node.depth;
  nodes_.push_back(node);
  passed_.push_back(passed);
  return id;
}

void StackTrie::Grow() {
  slots_.assign(slots_.size() * 2, kNoNode);
  const size_t mask = slots_.size() - 1;
  for (NodeId id = 0; id < size(); ++id) {
    if (IsRoot(id)) continue;
    size_t slot = HashChild(nodes_[id].parent, nodes_[id].function) & mask;
    while (slots_[slot] != kNoNode) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

void StackTrie::Accumulate() {
  for (NodeId id = size(); id-- > 0;) {
    if (IsRoot(id)) continue;
    TrieNode& above = nodes_[nodes_[id].parent];
    above.weight += nodes_[id].weight;
    above.deepest = std::max(above.deepest, nodes_[id].deepest);
  }
  node_of_ = {};
  slots_ = {};
  passed_ = {};
}

}  // namespace profiler::report

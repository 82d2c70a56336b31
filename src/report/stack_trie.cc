#include "src/report/stack_trie.h"

#include <algorithm>

namespace profiler::report {

using profile::FrameId;
using profile::kNoStack;
using profile::StackId;
using profile::StackNode;

namespace {

constexpr uint16_t kDeepest = std::numeric_limits<uint16_t>::max();

uint64_t PathBit(uint32_t bucket) { return uint64_t{1} << ((bucket * 0x9e3779b1u) >> 26); }

}  // namespace

StackTrie::StackTrie(const profile::Profile& profile, const FunctionTable& functions,
                     std::span<const uint32_t> buckets, Keep keep, uint32_t max_stack)
    : profile_(profile),
      functions_(functions),
      buckets_(buckets),
      keep_(keep),
      max_stack_(keep == Keep::kAll ? std::numeric_limits<uint32_t>::max()
                                    : std::max<uint32_t>(max_stack, 1)),
      node_of_(profile.stacks.size(), kNoNode) {
  // The usual size. Pages that are not reached cost nothing.
  nodes_.reserve(profile.stacks.size() + 1);
  passed_.reserve(profile.stacks.size() + 1);
}

NodeId StackTrie::StartGroup() {
  group_ = NewNode(kNoNode, kNoFunction);
  return group_;
}

NodeId StackTrie::Add(StackId stack, const Weight& weight) {
  const bool cut = keep_ == Keep::kInnermost && profile_[stack].depth > max_stack_;
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
  for (const FunctionId function : functions_.At(frame)) node = NewNode(node, function);
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

void StackTrie::Accumulate() {
  for (NodeId id = size(); id-- > 0;) {
    if (IsRoot(id)) continue;
    TrieNode& above = nodes_[nodes_[id].parent];
    above.weight += nodes_[id].weight;
    above.deepest = std::max(above.deepest, nodes_[id].deepest);
  }
  node_of_ = {};
  passed_ = {};
}

}  // namespace profiler::report

#include "src/report/stack_trie.h"

#include <algorithm>
#include <utility>

namespace profiler::report {

using profile::FrameId;
using profile::kNoStack;
using profile::StackId;
using profile::StackNode;

namespace {

constexpr uint16_t kDeepest = std::numeric_limits<uint16_t>::max();

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
  depths_.reserve(profile.stacks.size() + 1);
}

NodeId StackTrie::StartGroup() {
  group_ = size();
  nodes_.push_back({});
  depths_.push_back({});
  roots_.push_back(group_);
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
    if (at.depth <= max_stack_) {
      path_.push_back({stack, at.frame});
      functions_.Prefetch(at.frame);
    }
    stack = at.parent;
  }
  // … and down again, adding the rest.
  for (size_t i = path_.size(); i-- > 0;) {
    node = AddFrame(node, path_[i].frame);
    node_of_[static_cast<uint32_t>(path_[i].stack)] = node;
  }
  return node;
}

NodeId StackTrie::AddInnermost(StackId stack) {
  path_.clear();
  while (path_.size() < max_stack_ && stack != kNoStack) {
    const StackNode& at = profile_[stack];
    path_.push_back({stack, at.frame});
    stack = at.parent;
  }
  NodeId node = group_;
  for (size_t i = path_.size(); i-- > 0;) node = AddFrame(node, path_[i].frame);
  return node;
}

NodeId StackTrie::AddFrame(NodeId node, FrameId frame) {
  for (const FunctionId function : functions_.At(frame)) node = NewNode(node, function);
  return node;
}

NodeId StackTrie::NewNode(NodeId parent, FunctionId function) {
  const NodeId id = size();
  const NodeId sibling = std::exchange(nodes_[parent].first_child, id);
  nodes_.push_back({.parent = parent, .function = function, .next_sibling = sibling});
  const uint16_t above = depths_[parent].own;
  const auto own = static_cast<uint16_t>(above + (above != kDeepest ? 1 : 0));
  depths_.push_back({.own = own, .deepest = own});
  return id;
}

void StackTrie::Accumulate() {
  for (NodeId id = size(); id-- > 0;) {
    if (IsRoot(id)) continue;
    const NodeId parent = nodes_[id].parent;
    nodes_[parent].weight += nodes_[id].weight;
    depths_[parent].deepest = std::max(depths_[parent].deepest, depths_[id].deepest);
  }
  node_of_ = {};
  MarkNested();
  roots_ = {};
}

// Goes through the tree depth first and keeps count of what is on the path.
void StackTrie::MarkNested() {
  struct Passed {
    NodeId next;
    uint32_t bucket;
  };
  std::vector<Passed> path;
  uint32_t buckets = 0;
  for (const uint32_t bucket : buckets_) buckets = std::max(buckets, bucket + 1);
  std::vector<uint32_t> on_path(buckets, 0);
  nested_.resize(size());
  for (const NodeId root : roots_) {
    NodeId id = nodes_[root].first_child;
    while (id != kNoNode || !path.empty()) {
      if (id == kNoNode) {
        --on_path[path.back().bucket];
        id = path.back().next;
        path.pop_back();
        continue;
      }
      const TrieNode& node = nodes_[id];
      if (node.next_sibling != kNoNode) __builtin_prefetch(&nodes_[node.next_sibling]);
      const uint32_t bucket = buckets_[node.function];
      if (on_path[bucket]++ != 0) nested_[id] = true;
      path.push_back({.next = node.next_sibling, .bucket = bucket});
      id = node.first_child;
    }
  }
}

NodeId StackTrie::SameAbove(NodeId id) const {
  if (!nested_[id]) return kNoNode;
  const uint32_t bucket = buckets_[nodes_[id].function];
  do {
    id = nodes_[id].parent;
  } while (buckets_[nodes_[id].function] != bucket);
  return id;
}

}  // namespace profiler::report

// The stacks of one event as a tree of functions: what is shared between samples is stored and
// counted once.
//
//   group (comm, thread, cpu: whatever rows are grouped by besides functions)
//     └ root node ─ outermost function ─ … ─ interrupted function
//
// There is a node for each stack node that the group's samples reach, or several in a row where
// calls were inlined. Siblings may be of the same function (called from different places): whoever
// draws them merges them, and only for what is drawn. A node knows the samples of its whole
// subtree, so that a function's accumulated weight is the sum over the nodes where it stands
// outermost: no sample's chain is walked for it. A node's id is higher than its parent's, and the
// nodes of a group are contiguous.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/report/functions.h"
#include "src/report/options.h"

namespace profiler::report {

struct Weight {
  uint64_t period = 0;
  uint64_t count = 0;

  Weight& operator+=(const Weight& other) {
    period += other.period;
    count += other.count;
    return *this;
  }
  Weight& operator-=(const Weight& other) {
    period -= other.period;
    count -= other.count;
    return *this;
  }
  friend Weight operator-(Weight a, const Weight& b) { return a -= b; }
  bool operator==(const Weight&) const = default;
};

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

struct TrieNode {
  NodeId parent = kNoNode;
  FunctionId function = kNoFunction;  // of a root: none
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  Weight weight;  // of the subtree; while stacks are added, of the node alone
};
static_assert(sizeof(TrieNode) == 32);  // there are millions

// Functions from the root to a node; saturates.
struct NodeDepth {
  uint16_t own = 0;
  uint16_t deepest = 0;  // in the subtree
};

// Built in steps: for each group StartGroup() and its stacks, then Accumulate().
class StackTrie {
 public:
  // Which end of a stack that has more than `max_stack` frames is kept.
  enum class Keep : uint8_t { kOutermost, kInnermost, kAll };

  // `buckets`: by function; functions of one bucket count as the same one for recursion. All
  // references must outlive the trie.
  StackTrie(const profile::Profile& profile, const FunctionTable& functions,
            std::span<const uint32_t> buckets, Keep keep, uint32_t max_stack);

  NodeId StartGroup();
  // To be called a few stacks before Add.
  void Prefetch(profile::StackId stack) const {
    __builtin_prefetch(&profile_[stack]);
    __builtin_prefetch(&node_of_[static_cast<uint32_t>(stack)]);
  }
  // Returns the stack's leaf. Amortized over all stacks of a group: one step a distinct stack node.
  NodeId Add(profile::StackId stack, const Weight& weight);
  // Ends the building and frees what only building needs.
  void Accumulate();

  const TrieNode& operator[](NodeId id) const { return nodes_[id]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  bool IsRoot(NodeId id) const { return nodes_[id].function == kNoFunction; }
  // True where a node further up is in the same bucket. Only after Accumulate().
  bool IsNested(NodeId id) const { return nested_[id]; }
  // The nearest such node, else kNoNode. Costs a step a node between them.
  NodeId SameAbove(NodeId id) const;
  // Until ForgetDepths().
  NodeDepth Depth(NodeId id) const { return depths_[id]; }
  void ForgetDepths() { depths_ = {}; }

 private:
  struct Step {
    profile::StackId stack;
    profile::FrameId frame;
  };

  NodeId AddWhole(profile::StackId stack);
  NodeId AddInnermost(profile::StackId stack);
  NodeId AddFrame(NodeId node, profile::FrameId frame);
  NodeId NewNode(NodeId parent, FunctionId function);
  void MarkNested();

  const profile::Profile& profile_;
  const FunctionTable& functions_;
  const std::span<const uint32_t> buckets_;
  const Keep keep_;
  const uint32_t max_stack_;

  HugeVector<TrieNode> nodes_;
  HugeVector<NodeDepth> depths_;
  std::vector<bool> nested_;
  NodeId group_ = kNoNode;
  std::vector<Step> path_;  // leaf first

  // Only while building:
  std::vector<NodeId> roots_;
  HugeVector<NodeId> node_of_;  // by stack; valid where it is a node of the group
};

}  // namespace profiler::report

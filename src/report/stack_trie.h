// The stacks of one event as a tree of functions, for call graphs: what is shared between samples
// is stored and counted once.
//
//   group (comm, thread, cpu: whatever rows are grouped by besides functions)
//     └ root node ─ outermost function ─ … ─ interrupted function
//
// Siblings may be of the same function (called from different places): whoever draws them merges
// them, and only for what is drawn. A node knows the samples of its whole subtree. Its id is higher
// than its parent's.
//
// Most functions of a large recording are too light for any branch to be drawn of them. They have
// no nodes of their own, as long as what is drawn does not change: beside a function that may be
// drawn, those that may not are one node, "the others", and what is below them has no place in the
// tree, though it is counted there and finds its way up.
//
//   main ┬ parse ─ read
//        ├ write
//        └ (others) ◀─ read     called by one of them: its parent is there, it is no child of it

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "src/base/huge_pages.h"
#include "src/query/weight.h"
#include "src/report/functions.h"

namespace profiler::report {

using query::Weight;
using query::WeightOf;

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

struct TrieNode {
  NodeId parent = kNoNode;
  FunctionId function = kNoFunction;  // of a root: none
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  Weight weight;  // of the subtree; until Accumulate() of the node alone
};
static_assert(sizeof(TrieNode) == 32);  // there are many

class StackTrie {
 public:
  // `others`: what stands for the functions without nodes of their own.
  explicit StackTrie(FunctionId others) : others_(others) {}

  NodeId AddRoot() { return Add({}, false); }
  // `nested`: a node further up is in the same bucket.
  NodeId AddChild(NodeId parent, FunctionId function, bool nested) {
    const NodeId id = Add({.parent = parent, .function = function}, nested);
    // What is below the others is never drawn from there.
    if (!IsOthers(parent)) {
      nodes_[id].next_sibling = std::exchange(nodes_[parent].first_child, id);
    }
    return id;
  }
  NodeId AddOthers(NodeId parent) { return AddChild(parent, others_, false); }
  void Count(NodeId id, const Weight& weight) { nodes_[id].weight += weight; }
  // Once, when all is counted.
  void Accumulate() {
    for (NodeId id = size(); id-- > 0;) {
      if (!IsRoot(id)) nodes_[nodes_[id].parent].weight += nodes_[id].weight;
    }
  }

  const TrieNode& operator[](NodeId id) const { return nodes_[id]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  bool IsRoot(NodeId id) const { return nodes_[id].function == kNoFunction; }
  bool IsOthers(NodeId id) const { return nodes_[id].function == others_; }
  bool IsNested(NodeId id) const { return nested_[id]; }

 private:
  NodeId Add(const TrieNode& node, bool nested) {
    const NodeId id = size();
    nodes_.push_back(node);
    nested_.push_back(nested);
    return id;
  }

  const FunctionId others_;
  HugeVector<TrieNode> nodes_;
  std::vector<bool> nested_;
};

}  // namespace profiler::report

// The stacks of one event as a tree: frames that samples share are stored and counted once.
//
//   group (comm, thread, cpu, or any other grouping of a report's rows besides functions)
//     └ root node ─ outermost function ─ … ─ interrupted function
//
// A node has a code, which stands for a function of a report or of a flame graph. Siblings may have
// the same code, if a function calls another one at several addresses. A view merges such siblings
// itself, and only those that it draws. A node counts the samples of its whole subtree. Its id is
// higher than its parent's.
//
// Most functions of a large recording are too light for a report to draw any branch of them. All
// light callees of a node share one node, "the others", if that does not change the drawing. The
// callees of the others have that node as their parent, so their samples are counted there. But
// they are not among its children, because no view descends there.
//
//   main ┬ parse ─ read
//        ├ write
//        └ (others) ◀─ read     a callee of the others: its parent is there, but it is not a child

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "src/analysis/weight.h"
#include "src/base/huge_vector.h"

namespace profiler::analysis {

inline constexpr uint32_t kNoCode = std::numeric_limits<uint32_t>::max();

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

struct TrieNode {
  NodeId parent = kNoNode;
  uint32_t code = kNoCode;  // kNoCode: a root
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  Weight weight;  // weight of the subtree; before Accumulate() only of the node
};
static_assert(sizeof(TrieNode) == 32);  // small, because there are many nodes

class StackTrie {
 public:
  // `others` is the code of the nodes of functions without their own nodes.
  explicit StackTrie(uint32_t others = kNoCode - 1) : others_(others) {}

  NodeId AddRoot() { return Add({}, false); }
  // `nested`: True if an outer node is in the same bucket.
  NodeId AddChild(NodeId parent, uint32_t code, bool nested = false) {
    const NodeId id = Add({.parent = parent, .code = code}, nested);
    // Callees of the others are never drawn, so they are not linked.
    if (!IsOthers(parent)) {
      nodes_[id].next_sibling = std::exchange(nodes_[parent].first_child, id);
    }
    return id;
  }
  NodeId AddOthers(NodeId parent) { return AddChild(parent, others_); }
  void Count(NodeId id, const Weight& weight) { nodes_[id].weight += weight; }
  // Adds up the subtrees; call it once, after all Count() calls.
  void Accumulate() {
    for (NodeId id = size(); id-- > 0;) {
      if (!IsRoot(id)) nodes_[nodes_[id].parent].weight += nodes_[id].weight;
    }
  }

  const TrieNode& operator[](NodeId id) const { return nodes_[id]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  bool IsRoot(NodeId id) const { return nodes_[id].code == kNoCode; }
  bool IsOthers(NodeId id) const { return nodes_[id].code == others_; }
  bool IsNested(NodeId id) const { return nested_[id]; }

 private:
  NodeId Add(const TrieNode& node, bool nested) {
    const NodeId id = size();
    nodes_.push_back(node);
    nested_.push_back(nested);
    return id;
  }

  const uint32_t others_;
  HugeVector<TrieNode> nodes_;
  std::vector<bool> nested_;
};

}  // namespace profiler::analysis

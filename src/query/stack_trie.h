// The stacks of one event as a tree: what is shared between samples is stored and counted once.
//
//   group (comm, thread, cpu: whatever a report's rows are grouped by besides functions)
//     └ root node ─ outermost function ─ … ─ interrupted function
//
// A node stands for a code: a function of a report, or what a flame graph calls one. Siblings may
// have the same code, where a function calls another one at several addresses. A view merges them
// itself, and only those that it draws. A node knows the samples of its whole subtree. Its id is
// higher than its parent's.
//
// Most functions of a large recording are too light for a report to draw any branch of them. Where
// the drawing stays the same, they have no nodes of their own: all callees of a node that are too
// light are one node, "the others". What the others call has that node as its parent, so its
// samples are counted there, but is not one of its children, as nobody goes down there.
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

#include "src/base/huge_vector.h"
#include "src/query/weight.h"

namespace profiler::query {

inline constexpr uint32_t kNoCode = std::numeric_limits<uint32_t>::max();

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

struct TrieNode {
  NodeId parent = kNoNode;
  uint32_t code = kNoCode;  // of a root: none
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  Weight weight;  // of the subtree; until Accumulate() of the node alone
};
static_assert(sizeof(TrieNode) == 32);  // there are many

class StackTrie {
 public:
  // `others`: the code that stands for the functions without nodes of their own, if there are any.
  explicit StackTrie(uint32_t others = kNoCode - 1) : others_(others) {}

  NodeId AddRoot() { return Add({}, false); }
  // `nested`: a node further up is in the same bucket.
  NodeId AddChild(NodeId parent, uint32_t code, bool nested = false) {
    const NodeId id = Add({.parent = parent, .code = code}, nested);
    // What is below the others is never drawn from there.
    if (!IsOthers(parent)) {
      nodes_[id].next_sibling = std::exchange(nodes_[parent].first_child, id);
    }
    return id;
  }
  NodeId AddOthers(NodeId parent) { return AddChild(parent, others_); }
  void Count(NodeId id, const Weight& weight) { nodes_[id].weight += weight; }
  // Once, when all is counted.
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

}  // namespace profiler::query

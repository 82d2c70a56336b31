// Builds the call graph under a row: the chains of its samples, merged by function.
//
//   which chains (tools/perf/util/hist.c, Linux 7.2)
//     samples that interrupted the row's function   their whole chain
//     samples in its callees (accumulated rows      the part from the function to the chain's end:
//     only)                                         in caller order the function's callees, from
//                                                   its outermost point; in callee order its
//                                                   callers, from its innermost point
//   how they branch (tools/perf/util/callchain.c)
//     a node is a run of functions without a branch; it ends where chains part or where a chain
//     ends, even if the chain that parts or ends is not shown
//
// Only branches that reach the threshold are followed, so a tree costs only what it shows.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/views/report/hist.h"
#include "src/views/report/options.h"
#include "src/views/report/row_stacks.h"

namespace profiler::report {

// A node of a call graph: a run of functions without a branch.
struct ChainNode {
  std::vector<FunctionId> path;  // functions of the run, from the top down; empty in the root
  Weight total;
  Weight below;  // part of `total` whose chains go on below the node, shown or not
  size_t parent = 0;
  std::vector<size_t> children;  // indices of the child nodes that are shown, in that order

  Weight own() const { return total - below; }  // weight of the chains that end in this node
};

// A tree of nodes that refer to each other by index, so even a very deep tree needs no recursion.
// Node 0 is the root: it has no path, and its total is the weight of all chains.
using ChainTree = std::vector<ChainNode>;

// A builder of trees, from a histogram that was built with chains. The histogram must outlive the
// builder. Keeps the trie, and scratch memory of 12 bytes per trie node. Not thread-safe.
class CallGraph {
 public:
  // `options.type` must not be kNone. `options.threshold` must be set. The threshold, as a share of
  // the histogram's total, must be at least its HistOptions::chains_from.
  CallGraph(const Histogram& hist, const CallGraphOptions& options);

  // Builds the graph of a row. Takes time linear in the row's samples and in the trie nodes that
  // are merged into the branches followed.
  ChainTree Build(size_t row);

 private:
  // A point in the trie that chains pass, and the weight of these chains. A point has copies of its
  // node's data, so that a step from the point does not wait until the node is loaded from memory.
  struct ChainPoint {
    NodeId node = kNoNode;
    NodeId first_child = kNoNode;
    uint32_t key = 0;          // chain_key of its function
    uint32_t whole : 1 = 0;    // 1: chains start at the group's root; 0: at the row's function
    uint32_t frames : 31 = 0;  // number of frames passed, in callee order
    Weight weight;
  };
  static_assert(sizeof(ChainPoint) == 32);
  // The points of one merged node, while their weight is summed up.
  struct Branch {
    FunctionId function = kNoFunction;
    Weight weight;
    size_t next = 0;  // index of the branch's child; UINT32_MAX: not shown
  };
  // Weights of a few of the trie's nodes.
  class SparseWeights {
   public:
    explicit SparseWeights(size_t nodes) : slots_(HugeVector<uint32_t>::Zeros(nodes)) {}
    Weight operator[](NodeId node) const {
      return slots_[node] == 0 ? Weight{} : weights_[slots_[node] - 1];
    }
    void Add(NodeId node, const Weight& weight);
    void Clear();
    std::span<const NodeId> nodes() const { return nodes_; }

   private:
    HugeVector<uint32_t> slots_;  // [node]: index into weights_ plus 1; 0: no weight
    std::vector<Weight> weights_;
    std::vector<NodeId> nodes_;
  };

  // The branches that are heavy enough to be shown, with their points.
  struct Parts {
    std::vector<ChainNode> children;
    std::vector<HugeVector<ChainPoint>> points;  // [n]: points of children[n]
  };
  // A node below which nothing has been built yet, and its points.
  struct Unfinished {
    size_t node;
    HugeVector<ChainPoint> points;
  };

  uint64_t MinPeriod(const ChainNode& node) const;
  ChainPoint PointAt(NodeId node, const Weight& weight, bool whole = false,
                     uint32_t frames = 0) const;
  HugeVector<ChainPoint> StartCallers(size_t row);
  HugeVector<ChainPoint> StartCallees(size_t row);
  void SplitOwnChains(size_t row);
  void SumWholeChains();
  NodeId InnermostOf(uint32_t bucket, NodeId node) const;
  NodeId SameAbove(NodeId node) const;
  void ForEachNext(const ChainPoint& point, auto&& visit) const;
  HugeVector<ChainPoint> NextPoints(std::span<const ChainPoint> points) const;
  void Grow(ChainTree& tree, HugeVector<ChainPoint> start);
  Parts LengthenPath(ChainNode& node, HugeVector<ChainPoint> next);
  Parts Part(std::span<const ChainPoint> points, ChainNode& node);
  void MergeSamePoints(HugeVector<ChainPoint>& points);
  std::vector<size_t> OrderOf(std::span<const ChainNode> children) const;
  bool StoredBefore(FunctionId a, FunctionId b) const;

  const Histogram& hist_;
  const RowStacks stacks_;
  const StackTrie& trie_;
  const CallGraphOptions options_;
  uint64_t min_period_ = 0;
  SparseWeights whole_;     // weights of the row's whole chains
  SparseWeights excluded_;  // weights of chains that do not count as starting at the row's function
  std::vector<uint32_t> key_of_function_;
  HugeVector<uint32_t> branch_of_key_;
  std::vector<uint32_t> branch_of_point_;
  std::vector<uint32_t> point_of_node_;  // used only in callee order
};

// Inputs of a drawing besides its options.
struct ChainDrawing {
  uint64_t total_period = 0;      // 100 %
  uint64_t row_period = 0;        // period of the row to which the graph belongs
  bool skip_first_entry = false;  // true: omit the first entry, which repeats the row's symbol
};

// Appends the tree in the layout of `perf report --stdio` (tools/perf/ui/stdio/hist.c, Linux 7.2).
// Appends nothing for a tree without children. Calls `flush` after each line; `flush` may empty
// `out`. This bounds memory, because the text of one row grows with the square of the tree's depth.
void DrawCallGraph(const Histogram& hist, const CallGraphOptions& options,
                   const ChainDrawing& drawing, const ChainTree& tree, std::string& out,
                   absl::FunctionRef<void()> flush);

}  // namespace profiler::report

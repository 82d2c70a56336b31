// The call graph under a row: its samples' chains, merged by function.
//
//   which chains (tools/perf/util/hist.c, Linux 7.2)
//     samples that interrupted the row's function   their whole chain
//     samples below it (accumulated rows only)      the part from the function to the chain's end:
//                                                   its callees (caller order, from its outermost
//                                                   point) or its callers (callee order, from its
//                                                   innermost point)
//   how they branch (tools/perf/util/callchain.c)
//     a node is a run of functions without a branch; it ends where chains part or one of them ends,
//     shown or not
//
// Only branches that reach the threshold are followed: the tree is cut out of the trie on demand.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/report/hist.h"
#include "src/report/options.h"

namespace profiler::report {

struct ChainNode {
  std::vector<FunctionId> path;  // from the top of the graph down; empty in a tree's root
  Weight total;
  Weight below;  // of all that goes on from here, shown or not
  size_t parent = 0;
  std::vector<size_t> children;  // in the order shown; those below the threshold are left out

  Weight own() const { return total - below; }  // chains that end here
};

// A node's parent and its children are numbers of other nodes here, so that a tree as deep as a
// chain is long needs no stack of the program's as deep as itself. Node 0 is the root. It has no
// path; its total is that of the chains.
using ChainTree = std::vector<ChainNode>;

// Cuts trees out of a histogram that was built with chains; both must outlive it. Keeps scratch
// memory of 12 bytes a trie node. Not thread-safe.
class CallGraph {
 public:
  // `options.type` is not kNone; `options.threshold` is set, and where it is of the total, not
  // below the histogram's chains_from.
  CallGraph(const Histogram& hist, const CallGraphOptions& options);

  // Cost: the row's samples and the trie nodes that are merged into the branches followed.
  ChainTree Build(size_t row);

 private:
  // A point in the trie that chains go through, and what goes through it. There are many, and what
  // is asked of each node is here, so that no step waits for the node again.
  struct ChainPoint {
    NodeId node = kNoNode;
    NodeId first_child = kNoNode;
    uint32_t key = 0;          // the chain_key of its function
    uint32_t whole : 1 = 0;    // chains from the group's root; else from the row's function
    uint32_t frames : 31 = 0;  // passed in callee order
    Weight weight;
  };
  static_assert(sizeof(ChainPoint) == 32);
  // The points of one merged node, while its weight is summed up.
  struct Branch {
    FunctionId function = kNoFunction;
    Weight weight;
    size_t first = 0;  // of the points, once they are gathered
    size_t next = 0;
  };
  // Weights of a few trie nodes.
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
    HugeVector<uint32_t> slots_;  // by node: index into weights_ and one, or 0
    std::vector<Weight> weights_;
    std::vector<NodeId> nodes_;
  };

  // Branches that are heavy enough to be shown.
  struct Parts {
    std::vector<ChainNode> children;
    std::vector<HugeVector<ChainPoint>> points;  // of each child
  };
  // A node of which it is not yet known what follows it, and the points of that.
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
  const StackTrie& trie_;
  const CallGraphOptions options_;
  uint64_t min_period_ = 0;
  SparseWeights whole_;     // of the row's whole chains
  SparseWeights excluded_;  // of chains that are not counted from the row's function
  std::vector<uint32_t> key_of_function_;
  HugeVector<uint32_t> branch_of_key_;
  std::vector<uint32_t> branch_of_point_;
  std::vector<uint32_t> point_of_node_;  // in callee order only
};

// What a call graph is drawn with, besides its options.
struct ChainDrawing {
  uint64_t total_period = 0;      // 100 %
  uint64_t row_period = 0;        // of the row above
  bool skip_first_entry = false;  // it repeats the row's symbol
};

// Appends the tree in the layout of `perf report --stdio` (tools/perf/ui/stdio/hist.c, Linux 7.2).
// Appends nothing for a tree without children. Calls `flush` after each line, which may take away
// what is in `out`: the text of one row grows with the square of the depth of its tree.
void DrawCallGraph(const Histogram& hist, const CallGraphOptions& options,
                   const ChainDrawing& drawing, const ChainTree& tree, std::string& out,
                   absl::FunctionRef<void()> flush);

}  // namespace profiler::report

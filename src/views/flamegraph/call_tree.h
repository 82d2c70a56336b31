// The call tree: an event's samples, merged by the labels of their stacks.
//
//   the profile's stacks (by address)         the call tree (by label)
//
//     main+4 ── f+8 ── g+2     3 samples        main ── f ── g   5
//     main+4 ── f+9 ── g+2     2                     └─ h        1
//     main+7 ── h+1            1
//
// The stacks already form a tree, the trie (stack_trie.h), but siblings in the trie may have equal
// labels. The call tree is built from the trie top down. Each node of the call tree stands for a
// set of the trie's nodes. Grouping the children of such a set by label yields the sets for the
// node's children. This visits each node of the trie once and needs no hashing. Siblings come out
// in order, and a set that weighs too little is dropped before its descendants are visited.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/analysis/weight.h"
#include "src/profile/profile.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

enum class WeightBy : uint8_t { kPeriod, kSamples };

using analysis::Weight;

// Returns a row's weight. If `by` is kSamples, or if the row has no period, each sample counts as a
// period of 1.
inline Weight WeightOf(const profile::Row& row, WeightBy by) {
  const bool counts = by == WeightBy::kSamples || row.period == 0;
  return {.period = counts ? row.count : row.period, .count = row.count};
}

struct CallNode {
  LabelId label = kNoLabel;  // kNoLabel: the root of everything, which is node 0
  uint32_t parent = 0;
  uint32_t depth = 0;
  Weight total;       // weight of the node and its descendants, dropped ones included
  uint64_t self = 0;  // the part of total.period that ends here
};

struct CallTree {
  std::vector<CallNode> nodes;  // parents come before children; siblings are sorted by label
  // number of children left out because they weigh less than min_period
  uint64_t dropped = 0;
};

// The rows of one process name: a child of the tree's root.
struct ProcessRows {
  LabelId label = kNoLabel;
  const FrameLabels* frames = nullptr;  // labels of the frames in this process
  std::vector<uint32_t> rows;           // indices of Profile::rows
};

struct CallTreeOptions {
  WeightBy weight = WeightBy::kPeriod;
  uint64_t min_period = 0;  // nodes with a smaller total.period are dropped
  // True to merge from the leaf: callers are below callees, and the process comes last.
  bool reverse = false;
};

// Returns all rows of `event`, in the profile's order, grouped by the label of their thread's comm.
// Leaves ProcessRows::frames null.
std::vector<ProcessRows> RowsByProcess(const profile::Profile& profile, profile::EventId event,
                                       absl::FunctionRef<LabelId(std::string_view comm)> label_of);

// Builds the tree. Takes time linear in rows and stack nodes, except for sorting siblings by label.
CallTree BuildCallTree(const profile::Profile& profile, std::vector<ProcessRows> processes,
                       const CallTreeOptions& options);

}  // namespace profiler::exports

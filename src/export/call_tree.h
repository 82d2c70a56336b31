// Samples merged by what their stacks are called.
//
//   the profile's stacks (by address)         the call tree (by label)
//
//     main+4 ── f+8 ── g+2     3 samples        main ── f ── g   5
//     main+4 ── f+9 ── g+2     2                     └─ h        1
//     main+7 ── h+1            1
//
// The stacks are a tree as they are (stack_trie.h), in which callees that are called alike stand
// side by side. The call tree is found in it from the top down. A node of it stands for a set of
// the trie's nodes; their children, sorted by label, are the sets of its children. Each node of the
// trie is visited once, nothing is hashed, siblings come out in order, and a set that weighs too
// little is dropped before anything below it is looked at.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/export/labels.h"
#include "src/profile/profile.h"
#include "src/query/weight.h"

namespace profiler::exports {

enum class WeightBy : uint8_t { kPeriod, kSamples };

using query::Weight;

// A row's weight. By samples, or where they have no period, each has a period of one.
inline Weight WeightOf(const profile::Row& row, WeightBy by) {
  const bool counts = by == WeightBy::kSamples || row.period == 0;
  return {.period = counts ? row.count : row.period, .count = row.count};
}

struct CallNode {
  LabelId label = kNoLabel;  // kNoLabel: the root of everything, which is node 0
  uint32_t parent = 0;
  uint32_t depth = 0;
  Weight total;       // itself and all below, what was dropped included
  uint64_t self = 0;  // the part of total.period that ends here
};

struct CallTree {
  std::vector<CallNode> nodes;  // a node precedes those below it; siblings are ordered by label
  uint64_t dropped = 0;         // children left out because they weigh less than min_period
};

// The rows of one process name: a child of the tree's root.
struct ProcessRows {
  LabelId label = kNoLabel;
  const FrameLabels* frames = nullptr;  // what the frames are called in this process
  std::vector<uint32_t> rows;           // indices of Profile::rows
};

struct CallTreeOptions {
  WeightBy weight = WeightBy::kPeriod;
  uint64_t min_period = 0;  // nodes whose total.period is less are dropped
  // Merges from the leaf: callers are below what they call, and the process is the last.
  bool reverse = false;
};

// Every row of `event`, by what `label_of` calls its thread's comm. In the order of the profile's
// rows; `frames` is null.
std::vector<ProcessRows> RowsByProcess(const profile::Profile& profile, profile::EventId event,
                                       absl::FunctionRef<LabelId(std::string_view comm)> label_of);

// Linear in rows and stack nodes, but for sorting siblings by label.
CallTree BuildCallTree(const profile::Profile& profile, std::vector<ProcessRows> processes,
                       const CallTreeOptions& options);

}  // namespace profiler::exports

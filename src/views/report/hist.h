// The rows of a report: samples of one event, or of the events of a group, by sort keys.
//
// The semantics are those of perf's histograms (tools/perf/util/hist.c, sort.c, ui/hist.c; Linux
// 7.2):
//   * self: each sample counts once, for the function that it interrupted;
//   * children: each sample counts once for every distinct row on its chain, so recursion adds
//     nothing;
//   * rows are in order of weight, then of their sort keys;
//   * samples that a filter removes still count in the total, unless percentages are relative;
//   * the events of a group share rows, and each row has a weight per event. The leader's weight
//     decides the order before that of other events, and call graphs contain only its samples.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/analysis/stack_trie.h"
#include "src/analysis/stack_walk.h"
#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist_row.h"

namespace profiler::report {

using analysis::kNoNode;
using analysis::NodeId;
using analysis::StackTrie;
using analysis::TrieNode;

// A table of rows. Refers to the profile and the function table. Reading is thread-safe.
class Histogram {
 public:
  // `event` is the leader of a group if there are further `members`.
  Histogram(const profile::Profile& profile, const FunctionTable& functions, profile::EventId event,
            const HistOptions& options, std::span<const profile::EventId> members = {});

  // Returns the rows in the order shown, with weights of the leader.
  std::span<const HistRow> rows() const { return rows_; }
  // Returns the leader's weight that is 100 %.
  const Weight& total() const { return total_; }
  // MembersOf returns a row's weight of each member; member_totals returns the weight of each
  // member that is 100 %. Both are in the order of the members.
  std::span<const EventWeights> MembersOf(size_t row) const {
    return std::span(member_weights_).subspan(row * member_totals_.size(), member_totals_.size());
  }
  std::span<const Weight> member_totals() const { return member_totals_; }
  // Returns the leader's periods by mode; only with options().modes.
  const ModePeriods& ModesOf(size_t row) const { return modes_[row]; }
  // True if the row's symbol contains options().symbol_part.
  bool IsShown(size_t row) const;
  const HistOptions& options() const { return options_; }
  const profile::Profile& profile() const { return profile_; }
  const FunctionTable& functions() const { return functions_; }

  // Returns the trie for call graphs; only with options().chains.
  const StackTrie& trie() const { return *trie_; }
  // True if a row may have a call graph. If rows are in order of weight, these are the first rows.
  bool MayHaveChains(size_t row) const { return row < rows_with_chains_; }
  // Returns the trie nodes of a row's functions, in no particular order; only with children.
  std::span<const NodeId> NodesOf(size_t row) const { return nodes_by_row_.at(row); }
  // Returns the row's own samples, as indices into profile().rows.
  std::span<const uint32_t> SamplesOf(size_t row) const { return samples_by_row_.at(row); }
  // Returns the trie leaf of a sample's chain. `sample` must be one that SamplesOf returns.
  NodeId LeafOf(uint32_t sample) const { return leaf_[sample]; }
  // Returns the id that stands in the trie for all functions without nodes of their own. The id is
  // no function's, but it has a bucket.
  FunctionId others() const { return functions_.size(); }
  uint32_t BucketOf(FunctionId function) const {
    return buckets_.empty() ? function : buckets_[function];
  }
  uint32_t BucketOfRow(size_t row) const { return BucketOf(rows_[row].function); }

 private:
  class Builder;

  // The items of each row, all in one array.
  struct Index {
    HugeVector<uint32_t> first;
    HugeVector<uint32_t> items;

    std::span<const uint32_t> at(size_t row) const {
      return std::span(items).subspan(first[row], first[row + 1] - first[row]);
    }
  };

  const profile::Profile& profile_;
  const FunctionTable& functions_;
  const HistOptions options_;
  // The bucket of each function. Functions that the sort keys do not distinguish share a bucket.
  // Empty if the keys distinguish all functions.
  HugeVector<uint32_t> buckets_;
  HugeVector<HistRow> rows_;
  Weight total_;
  std::vector<ModePeriods> modes_;            // indexed by row; empty without HistOptions::modes
  std::vector<EventWeights> member_weights_;  // for each row, its weights of all members
  std::vector<Weight> member_totals_;
  std::unique_ptr<StackTrie> trie_;
  HugeVector<NodeId> leaf_;      // [sample]: trie leaf of its chain
  size_t rows_with_chains_ = 0;  // rows from here on have no call graph
  Index nodes_by_row_;
  Index samples_by_row_;
};

// Returns the end of a stack that is used for rows if the stack has more than `max_stack` frames.
analysis::StackWalk::Keep KeptEnd(const HistOptions& options);

// True if any sample of the event has more than one frame.
bool HasCallChains(const profile::Profile& profile, profile::EventId event);

}  // namespace profiler::report

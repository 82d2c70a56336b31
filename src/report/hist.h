// Rows of a report: the samples of one event, or of the events of a group, by sort keys.
//
// The semantics are those of perf's histograms (tools/perf/util/hist.c, sort.c, ui/hist.c; Linux
// 7.2):
//   * self: each sample counts once, for the function that it interrupted;
//   * children: each sample counts once for every distinct row on its chain, so that recursion adds
//     nothing;
//   * rows are in order of weight, then of their sort keys;
//   * what a filter leaves out still counts in the total, unless percentages are relative;
//   * the events of a group share rows: each row has the weights of each event. The group's leader
//     decides on the order before the other events do, and call graphs are of its samples alone.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/query/stack_trie.h"
#include "src/query/stack_walk.h"
#include "src/report/functions.h"
#include "src/report/hist_row.h"

namespace profiler::report {

using query::kNoNode;
using query::NodeId;
using query::StackTrie;
using query::TrieNode;

// Refers to the profile and the function table that it was built from. Reading is thread-safe.
class Histogram {
 public:
  // `event` is the leader of a group where it has further `members`.
  Histogram(const profile::Profile& profile, const FunctionTable& functions, profile::EventId event,
            const HistOptions& options, std::span<const profile::EventId> members = {});

  // In the order shown; weights are those of the leader.
  std::span<const HistRow> rows() const { return rows_; }
  // What 100 % is, of the leader.
  const Weight& total() const { return total_; }
  // The same of the members, in their order.
  std::span<const EventWeights> MembersOf(size_t row) const {
    return std::span(member_weights_).subspan(row * member_totals_.size(), member_totals_.size());
  }
  std::span<const Weight> member_totals() const { return member_totals_; }
  // Of the leader; only with options().modes.
  const ModePeriods& ModesOf(size_t row) const { return modes_[row]; }
  // Whether the row's symbol is asked for.
  bool IsShown(size_t row) const;
  const HistOptions& options() const { return options_; }
  const profile::Profile& profile() const { return profile_; }
  const FunctionTable& functions() const { return functions_; }

  // For call graphs of the rows that may have one; only with options().chains.
  const StackTrie& trie() const { return *trie_; }
  // Whether a row may have one. Where rows are in order of weight, it is the first ones.
  bool MayHaveChains(size_t row) const { return row < rows_with_chains_; }
  // The nodes of the functions of one of them: with children only, without an order worth relying
  // on.
  std::span<const NodeId> NodesOf(size_t row) const { return nodes_by_row_.at(row); }
  // The samples counted as its own: index into profile().rows.
  std::span<const uint32_t> SamplesOf(size_t row) const { return samples_by_row_.at(row); }
  // The leaf of a sample's chain in the trie, of those that SamplesOf gives.
  NodeId LeafOf(uint32_t sample) const { return leaf_[sample]; }
  // What stands in the trie for functions without nodes of their own: no function's id, but it has
  // a bucket.
  FunctionId others() const { return functions_.size(); }
  uint32_t BucketOf(FunctionId function) const {
    return buckets_.empty() ? function : buckets_[function];
  }
  uint32_t BucketOfRow(size_t row) const { return BucketOf(rows_[row].function); }

 private:
  class Builder;

  // Items by row, in one array.
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
  // By function: equal where the sort keys see no difference. Empty where they tell all functions
  // apart.
  HugeVector<uint32_t> buckets_;
  HugeVector<HistRow> rows_;
  Weight total_;
  std::vector<ModePeriods> modes_;            // by row; empty unless asked for
  std::vector<EventWeights> member_weights_;  // by row, and in a row by member
  std::vector<Weight> member_totals_;
  std::unique_ptr<StackTrie> trie_;
  HugeVector<NodeId> leaf_;      // by sample
  size_t rows_with_chains_ = 0;  // the last of them is before that
  Index nodes_by_row_;
  Index samples_by_row_;
};

// Which end of a stack with more than `max_stack` frames its rows are made of.
query::StackWalk::Keep KeptEnd(const HistOptions& options);

// Whether any sample of the event has more than one frame.
bool HasCallChains(const profile::Profile& profile, profile::EventId event);

}  // namespace profiler::report

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

#include "src/analysis/stack_walk.h"
#include "src/profile/profile.h"
#include "src/profile/row_change.h"
#include "src/views/report/function_buckets.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist_row.h"

namespace profiler::report {

class SampleGroups;

// A table of rows. Refers to the profile and the function table. Reading is thread-safe.
class Histogram {
 public:
  // kHeaviest: only rows that a screen shows first, or that may have call graphs, are sorted, if
  // rows are in order of weight.
  enum class Order : bool { kAll, kHeaviest };

  // `event` is the leader of a group if there are further `members`. `depth_first`: as in
  // SampleGroups.
  Histogram(const profile::Profile& profile, const FunctionTable& functions, profile::EventId event,
            const HistOptions& options, std::span<const profile::EventId> members = {},
            Order order = Order::kAll, const HugeVector<uint32_t>* depth_first = nullptr);
  Histogram(const Histogram&) = delete;
  ~Histogram();

  // True if Update may be called: the table has one event, no positions and no sums by mode, and
  // call chains if one of the changed rows has one.
  bool CanUpdate(std::span<const profile::RowChange> changes) const;
  // Takes over changes that the profile's rows already have. The profile and the table of functions
  // may have grown. Costs as much as the changed rows' stacks. Rows without samples are dropped. Only
  // the heaviest rows are sorted.
  void Update(std::span<const profile::RowChange> changes);

  // Returns the rows in the order shown, with weights of the leader.
  std::span<const HistRow> rows() const { return rows_; }
  // Returns the number of rows, the heaviest ones, that are in their order. SortRest sorts the rows
  // behind them, and changes nothing else.
  size_t sorted() const { return sorted_; }
  void SortRest();
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

  profile::EventId event() const { return event_; }

  // True if a row may have a call graph; only with options().chains. If rows are in order of weight,
  // these are the first rows.
  bool MayHaveChains(size_t row) const { return row < rows_with_chains_; }
  // True if a row or branch of this period may be drawn. Adds 1, because percentages are rounded.
  bool MayBeDrawn(uint64_t period) const {
    const double least = static_cast<double>(total_.period) * (options_.chains_from / 100);
    return static_cast<double>(period) + 1 >= least;
  }
  // Returns the samples by group, if they are still in memory; else null.
  const SampleGroups* groups() const { return groups_.get(); }
  // Returns the id that stands in the trie for all functions without nodes of their own. The id is
  // no function's, but it has a bucket.
  FunctionId others() const { return functions_.size(); }
  const FunctionBuckets& buckets() const { return buckets_; }
  uint32_t BucketOf(FunctionId function) const { return buckets_.Of(function); }
  uint32_t BucketOfRow(size_t row) const { return BucketOf(rows_[row].function); }

 private:
  class Builder;
  struct Sums;

  void JoinRows(std::span<const profile::EventId> members);
  uint64_t LeadingWeightOf(const HistRow& row) const;
  bool SortsByWeight() const;
  size_t PutHeaviestFirst();
  void SortRows(size_t begin, size_t end);
  void CountRowsWithChains();
  void MoveRows(size_t begin, const HugeVector<uint32_t>& order);

  const profile::Profile& profile_;
  const FunctionTable& functions_;
  const profile::EventId event_;
  const HistOptions options_;
  FunctionBuckets buckets_;
  HugeVector<HistRow> rows_;
  Weight total_;
  std::vector<ModePeriods> modes_;            // indexed by row; empty without HistOptions::modes
  std::vector<EventWeights> member_weights_;  // for each row, its weights of all members
  std::vector<Weight> member_totals_;
  size_t sorted_ = 0;
  size_t rows_with_chains_ = 0;  // rows from here on have no call graph
  // Kept for the trie, until the first update.
  std::unique_ptr<const SampleGroups> groups_;
  std::unique_ptr<Sums> sums_;  // set by the first update
};

// Returns the end of a stack that is used for rows if the stack has more than `max_stack` frames.
analysis::StackWalk::Keep KeptEnd(const HistOptions& options);

// True if any sample of the event has more than one frame.
bool HasCallChains(const profile::Profile& profile, profile::EventId event);

}  // namespace profiler::report

#include "src/views/report/hist.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/filter.h"
#include "src/views/report/row_numbers.h"
#include "src/views/report/row_order.h"
#include "src/views/report/sample_groups.h"

namespace profiler::report {

using analysis::StackWalk;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::RowChange;

namespace {

constexpr uint32_t kNone = 0xffffffff;

Weight WeightOf(const RowChange& change) {
  return {.period = change.period, .count = change.count};
}

}  // namespace

// A bucket's state in the current group.
struct BucketInGroup {
  uint32_t row = kNone;
  uint32_t on_path = 0;  // number of its functions on the walk's current stack
};

// Rows that samples are added to and subtracted from, in the order in which they appeared.
struct Histogram::Sums {
  Sums(const Profile& profile, const HistOptions& options) : groups(profile, options) {}

  GroupNumbers groups;
  HugeVector<HistRow> rows;
  // Scratch of Builder, kept because most updates change few of many buckets.
  HugeVector<BucketInGroup> in_group;
  absl::flat_hash_map<uint64_t, uint32_t> row_of;  // keyed by group and bucket
};

bool Histogram::IsShown(size_t row) const {
  if (options_.symbol_part.empty()) return true;
  const StringId name = functions_[rows_[row].function].name;
  return profile_.text(name).find(options_.symbol_part) != std::string_view::npos;
}

// Adds samples to rows.
class Histogram::Builder {
 public:
  // Adds to the rows of `sums`; without it, to those of the histogram.
  Builder(Histogram& hist, Sums* sums)
      : hist_(hist),
        profile_(hist.profile_),
        sums_(sums),
        rows_(sums == nullptr ? hist.rows_ : sums->rows),
        walk_(profile_, KeptEnd(options()), options().max_stack),
        in_group_(sums == nullptr ? own_in_group_ : sums->in_group) {
    in_group_.resize(hist.buckets_.end());
    if (sums_ == nullptr) rows_.reserve(hist.buckets_.end());
  }

  // Adds the samples of a group. `sample_at` returns sample i of `size`, as a RowChange. Call it
  // once for each group, unless the rows have sums.
  void AddGroup(uint32_t group, size_t size, auto&& sample_at) {
    group_ = group;
    if (options().children) {
      AddStacks(size, sample_at);
    } else {
      for (size_t i = 0; i < size; ++i) CountSelf(sample_at(i));
    }
    for (const uint32_t bucket : touched_) in_group_[bucket] = {};
    touched_.clear();
  }

 private:
  class RowSums;

  const HistOptions& options() const { return hist_.options_; }

  void AddStacks(size_t size, auto& sample_at);

  // Returns the bucket's state in this group. Adds its row if it is new.
  BucketInGroup& RowFor(FunctionId function, uint32_t bucket, uint32_t sample) {
    BucketInGroup& at = in_group_[bucket];
    if (at.row != kNone) return at;
    touched_.push_back(bucket);
    at.row = static_cast<uint32_t>(rows_.size());
    if (sums_ != nullptr) {
      at.row = sums_->row_of.try_emplace(uint64_t{group_} << 32 | bucket, at.row).first->second;
    }
    if (at.row == rows_.size()) {
      rows_.push_back(
          {.function = function, .thread = profile_.rows[sample].thread, .sample = sample});
    }
    return at;
  }

  // Adds a sample to the row of the function that it interrupted.
  HistRow& CountSelf(const RowChange& sample) {
    const Row& counted = profile_.rows[sample.row];
    const FunctionId function = hist_.functions_.Interrupted(counted.self);
    const BucketInGroup& at = RowFor(function, hist_.BucketOf(function), sample.row);
    HistRow& row = rows_[at.row];
    row.self += WeightOf(sample);
    // Functions on the stack get this sample's `children` when the walk leaves them.
    if (at.on_path == 0) row.children += WeightOf(sample);
    if (options().modes) {
      hist_.modes_.resize(rows_.size());
      hist_.modes_[at.row].Add(profile_[counted.self].mode, sample.period);
    }
    return row;
  }

  Histogram& hist_;
  const Profile& profile_;
  Sums* const sums_;
  HugeVector<HistRow>& rows_;
  StackWalk walk_;
  uint32_t group_ = 0;
  HugeVector<BucketInGroup> own_in_group_;
  HugeVector<BucketInGroup>& in_group_;  // indexed by bucket
  std::vector<uint32_t> touched_;        // buckets with rows in this group
};

// A visitor that sums up the rows of one group. A function's weight is that of the subtrees below
// its outermost frames.
class Histogram::Builder::RowSums {
 public:
  // `first`: a sample of the group.
  RowSums(Builder& builder, uint32_t first)
      : builder_(builder),
        functions_(builder.hist_.functions_),
        first_(first),
        callers_below_(builder.options().order == ChainOrder::kCallee) {}

  void Prefetch(FrameId frame) const { functions_.Prefetch(frame); }

  uint32_t Enter(FrameId frame) {
    const std::span<const FunctionId> functions = functions_.At(frame);
    if (depth_ + functions.size() > path_.size()) path_.resize(2 * (depth_ + functions.size()));
    for (const FunctionId function : functions) {
      const uint32_t bucket = builder_.hist_.BucketOf(function);
      BucketInGroup& at = builder_.RowFor(function, bucket, first_);
      ++at.on_path;
      Passed& passed = path_[depth_++];
      passed.before = sum_;
      passed.bucket = bucket;
      passed.deepest = depth_;
      HistRow& row = builder_.rows_[at.row];
      __builtin_prefetch(&row);
      if (callers_below_) SetDepth(row, depth_);
    }
    return depth_;
  }

  void Count(const RowChange& sample) {
    SetDepth(builder_.CountSelf(sample), depth_);
    sum_ += WeightOf(sample);
  }

  void Back(uint32_t functions) {
    uint32_t deepest = path_[depth_ - 1].deepest;
    while (depth_ > functions) {
      const Passed& left = path_[--depth_];
      deepest = std::max(deepest, left.deepest);
      BucketInGroup& at = builder_.in_group_[left.bucket];
      if (--at.on_path != 0) continue;
      HistRow& row = builder_.rows_[at.row];
      row.children += sum_ - left.before;
      if (!callers_below_) SetDepth(row, deepest - depth_);
    }
    if (depth_ > 0) path_[depth_ - 1].deepest = std::max(path_[depth_ - 1].deepest, deepest);
  }

 private:
  struct Passed {
    Weight before;  // sum of all earlier samples
    uint32_t bucket = 0;
    uint32_t deepest = 0;  // depth of the deepest function in the subtree
  };

  static void SetDepth(HistRow& row, uint32_t depth) {
    constexpr uint32_t kDeepest = std::numeric_limits<uint16_t>::max();
    row.chain_depth = std::max(row.chain_depth, static_cast<uint16_t>(std::min(depth, kDeepest)));
  }

  Builder& builder_;
  const FunctionTable& functions_;
  const uint32_t first_;  // index in Profile::rows of the group's first sample
  const bool callers_below_;
  Weight sum_;                // sum of the samples so far
  std::vector<Passed> path_;  // functions on the path; the first depth_ entries are valid
  uint32_t depth_ = 0;
};

void Histogram::Builder::AddStacks(size_t size, auto& sample_at) {
  constexpr size_t kAhead = 8;
  RowSums sums(*this, sample_at(0).row);
  for (size_t i = 0; i < size; ++i) {
    if (i + kAhead < size) walk_.Prefetch(profile_.rows[sample_at(i + kAhead).row].stack);
    const RowChange sample = sample_at(i);
    walk_.To(profile_.rows[sample.row].stack, sums);
    sums.Count(sample);
  }
  walk_.End(sums);
}

Histogram::Histogram(const Profile& profile, const FunctionTable& functions, EventId event,
                     const HistOptions& options, std::span<const EventId> members, Order order,
                     const HugeVector<uint32_t>* depth_first)
    : profile_(profile),
      functions_(functions),
      event_(event),
      options_(options),
      buckets_(profile, functions, options) {
  auto groups = std::make_unique<const SampleGroups>(profile, event, options_, depth_first);
  total_ = groups->total();
  Builder builder(*this, nullptr);
  for (uint32_t group = 0; group < groups->size(); ++group) {
    const std::span<const uint32_t> samples = (*groups)[group];
    if (samples.empty()) continue;
    builder.AddGroup(group, samples.size(), [&](size_t i) {
      const Row& row = profile.rows[samples[i]];
      return RowChange{.row = samples[i], .count = row.count, .period = row.period};
    });
  }
  if (options_.chains) groups_ = std::move(groups);
  if (!members.empty()) JoinRows(members);
  const bool sorts_all = order == Order::kAll || !members.empty() || options_.modes;
  SortRows(0, sorts_all ? rows_.size() : PutHeaviestFirst());
  CountRowsWithChains();
}

Histogram::~Histogram() = default;

bool Histogram::CanUpdate(std::span<const RowChange> changes) const {
  if (!member_totals_.empty() || functions_.positions() != nullptr || options_.modes ||
      options_.slices) {
    return false;
  }
  return options_.chains ||
         std::none_of(changes.begin(), changes.end(), [&](const RowChange& change) {
           const Row& row = profile_.rows[change.row];
           return row.event == event_ && profile_[row.stack].depth > 1;
         });
}

void Histogram::Update(std::span<const RowChange> changes) {
  buckets_.Grow();
  if (sums_ == nullptr) {
    sums_ = std::make_unique<Sums>(profile_, options_);
    sums_->rows = rows_;
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      const uint32_t group = sums_->groups.Of(rows_[i].thread, rows_[i].sample);
      sums_->row_of.emplace(uint64_t{group} << 32 | BucketOfRow(i), i);
    }
    groups_.reset();
  }
  struct Grouped {
    uint32_t group = 0;
    RowChange change;
  };
  std::vector<Grouped> grouped;
  const analysis::RowFilter filter(profile_, options_.filter);
  for (const RowChange& change : changes) {
    const Row& row = profile_.rows[change.row];
    if (row.event != event_) continue;
    const bool passes = filter.Passes(row) && options_.column_filter.Passes(profile_, change.row);
    if (passes || !options_.relative_percentages) total_ += WeightOf(change);
    if (!passes) continue;
    grouped.push_back({sums_->groups.Of(row.thread, change.row), change});
  }
  // Callers precede callees, so most frames that stacks share are entered once.
  std::sort(grouped.begin(), grouped.end(), [&](const Grouped& a, const Grouped& b) {
    const auto key = [&](const Grouped& of) {
      return std::pair(of.group, profile_.rows[of.change.row].stack);
    };
    return key(a) < key(b);
  });
  Builder builder(*this, sums_.get());
  for (size_t begin = 0, end = 0; begin < grouped.size(); begin = end) {
    while (end < grouped.size() && grouped[end].group == grouped[begin].group) ++end;
    builder.AddGroup(grouped[begin].group, end - begin,
                     [&](size_t i) { return grouped[begin + i].change; });
  }
  rows_.clear();
  for (const HistRow& row : sums_->rows) {
    if (row.children != Weight()) rows_.push_back(row);
  }
  SortRows(0, PutHeaviestFirst());
  CountRowsWithChains();
}

void Histogram::SortRest() { SortRows(sorted_, rows_.size()); }

// True if rows are sorted by LeadingWeightOf before everything else.
bool Histogram::SortsByWeight() const {
  if (options_.row_order.empty()) return true;
  const auto* weight = std::get_if<WeightField>(&options_.row_order.front());
  return weight != nullptr &&
         *weight == (options_.children ? WeightField::kChildren : WeightField::kOverhead);
}

uint64_t Histogram::LeadingWeightOf(const HistRow& row) const {
  return options_.children ? row.children.period : row.self.period;
}

// Moves the rows that a screen shows, or that may have call graphs, before the others. Returns their
// number. Each of them is heavier than the others. Returns the number of all rows if their order does
// not begin with their weight.
size_t Histogram::PutHeaviestFirst() {
  constexpr size_t kShown = 256;
  if (rows_.size() <= kShown || !SortsByWeight()) return rows_.size();
  std::vector<uint64_t> weights;
  weights.reserve(rows_.size());
  for (const HistRow& row : rows_) weights.push_back(LeadingWeightOf(row));
  std::nth_element(weights.begin(), weights.begin() + kShown, weights.end(), std::greater<>());
  const uint64_t least = weights[kShown];
  const auto is_heavy = [&](const HistRow& row) {
    return LeadingWeightOf(row) >= least || (options_.chains && MayBeDrawn(row.children.period));
  };
  return static_cast<size_t>(std::partition(rows_.begin(), rows_.end(), is_heavy) - rows_.begin());
}

// Adds the members' samples to the rows with the same keys. Appends rows that only members have.
void Histogram::JoinRows(std::span<const EventId> members) {
  RowNumbers numbers(*this);
  for (const HistRow& row : rows_) numbers.Of(row);
  HistOptions member_options = options_;
  member_options.chains = false;
  for (size_t i = 0; i < members.size(); ++i) {
    const Histogram member(profile_, functions_, members[i], member_options);
    member_totals_.push_back(member.total());
    for (const HistRow& row : member.rows()) {
      const size_t index = numbers.Of(row);
      if (index == rows_.size()) {
        rows_.push_back({.function = row.function, .thread = row.thread, .sample = row.sample});
      }
      member_weights_.resize(rows_.size() * members.size());
      EventWeights& weights = member_weights_[index * members.size() + i];
      weights = {.self = row.self, .children = row.children};
      if (options_.modes) weights.modes = member.ModesOf(&row - member.rows().data());
    }
  }
  member_weights_.resize(rows_.size() * members.size());
}

// Sorts a part of the rows; only all rows if they have modes or members.
void Histogram::SortRows(size_t begin, size_t end) {
  sorted_ = end;
  if (options_.modes) modes_.resize(rows_.size());
  const HugeVector<uint32_t> order = OrderOfRows(
      {std::span<const HistRow>(rows_).subspan(begin, end - begin), modes_, member_weights_},
      profile_, functions_, options_);
  MoveRows(begin, order);
  if (member_weights_.empty() && modes_.empty()) return;
  std::vector<EventWeights> sorted;
  std::vector<ModePeriods> modes;
  for (const uint32_t row : order) {
    const auto members = MembersOf(row);
    sorted.insert(sorted.end(), members.begin(), members.end());
    if (options_.modes) modes.push_back(modes_[row]);
  }
  member_weights_ = std::move(sorted);
  modes_ = std::move(modes);
}

// Lighter rows have no call graphs, because no chain is heavier than its row.
void Histogram::CountRowsWithChains() {
  if (!options_.chains) return;
  rows_with_chains_ = sorted_;
  while (rows_with_chains_ > 0 && !MayBeDrawn(rows_[rows_with_chains_ - 1].children.period)) {
    --rows_with_chains_;
  }
}

// Moves row begin + order[i] to begin + i, along the cycles of the permutation. A second table of
// rows would raise the report's peak of memory.
void Histogram::MoveRows(size_t begin, const HugeVector<uint32_t>& order) {
  const std::span<HistRow> rows = std::span<HistRow>(rows_).subspan(begin);
  std::vector<bool> moved(order.size(), false);
  for (uint32_t start = 0; start < order.size(); ++start) {
    if (moved[start]) continue;
    const HistRow first = rows[start];
    uint32_t to = start;
    for (; order[to] != start; to = order[to]) {
      rows[to] = rows[order[to]];
      moved[to] = true;
    }
    rows[to] = first;
    moved[to] = true;
  }
}

// For rows without children, frames beyond the interrupted one do not matter, so all are kept;
// drawing callers stops at max_stack.
StackWalk::Keep KeptEnd(const HistOptions& options) {
  if (options.order == ChainOrder::kCaller) return StackWalk::Keep::kOutermost;
  return options.children ? StackWalk::Keep::kInnermost : StackWalk::Keep::kAll;
}

bool HasCallChains(const Profile& profile, EventId event) {
  return std::any_of(profile.rows.begin(), profile.rows.end(), [&](const Row& sample) {
    return sample.event == event && profile[sample.stack].depth > 1;
  });
}

}  // namespace profiler::report

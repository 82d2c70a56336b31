#include "src/views/report/hist.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/views/report/row_numbers.h"
#include "src/views/report/row_order.h"
#include "src/views/report/sample_groups.h"

namespace profiler::report {

using analysis::StackWalk;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;

namespace {

constexpr uint32_t kNone = 0xffffffff;

// Assigns buckets if a sort key is finer than a function (srcline, srcfile, symoff).
void BucketPositions(const Profile& profile, const FunctionTable& functions,
                     const HistOptions& options, HugeVector<uint32_t>& buckets) {
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (FunctionId id = 0; id < functions.size(); ++id) {
    std::vector<uint32_t> key;
    for (const SortKey sort : options.sort) {
      if (sort == SortKey::kSymbol) key.push_back(functions[id].chain_key);
      if (sort == SortKey::kDso) {
        key.push_back(static_cast<uint32_t>(profile[functions[id].image].name));
      }
      if (functions.positions()->Has(sort)) {
        key.push_back(functions.positions()->TextId(functions.PositionOf(id), sort));
      }
    }
    buckets[id] = known.try_emplace(std::move(key), id).first->second;
  }
}

// Assigns a bucket to each function. Functions that the sort keys do not distinguish share one.
// Returns an empty list if the keys distinguish all.
HugeVector<uint32_t> Buckets(const Profile& profile, const FunctionTable& functions,
                             const HistOptions& options) {
  if (functions.positions() == nullptr && options.SortsBy(SortKey::kSymbol) &&
      options.SortsBy(SortKey::kDso)) {
    return {};
  }
  HugeVector<uint32_t> buckets(functions.size(), 0);
  if (functions.positions() != nullptr) {
    BucketPositions(profile, functions, options, buckets);
    return buckets;
  }
  if (options.SortsBy(SortKey::kSymbol)) {
    // Without the dso as a key, equal names in all images share a bucket, and so do equal
    // unnamed addresses.
    absl::flat_hash_map<uint64_t, uint32_t> unnamed;
    absl::flat_hash_map<std::tuple<StringId, profile::Mode, bool>, uint32_t> named;
    for (FunctionId id = 0; id < functions.size(); ++id) {
      const Function& function = functions[id];
      const std::tuple key(function.name, function.mode, function.inlined);
      buckets[id] = function.named() ? named.try_emplace(key, id).first->second
                                     : unnamed.try_emplace(function.address, id).first->second;
    }
  } else if (options.SortsBy(SortKey::kDso)) {
    for (FunctionId id = 0; id < functions.size(); ++id) {
      buckets[id] = static_cast<uint32_t>(profile[functions[id].image].name);
    }
  }
  return buckets;
}

}  // namespace

bool Histogram::IsShown(size_t row) const {
  if (options_.symbol_part.empty()) return true;
  const StringId name = functions_[rows_[row].function].name;
  return profile_.text(name).find(options_.symbol_part) != std::string_view::npos;
}

class Histogram::Builder {
 public:
  Builder(Histogram& hist, EventId event)
      : hist_(hist),
        profile_(hist.profile_),
        groups_(profile_, event, hist_.options_),
        walk_(profile_, KeptEnd(options()), options().max_stack) {}

  void Build(std::span<const EventId> members) {
    hist_.total_ = groups_.total();
    if (options().chains) {
      hist_.trie_ = std::make_unique<StackTrie>(hist_.others());
      hist_.leaf_.assign(profile_.rows.size(), kNoNode);
      row_of_sample_.assign(profile_.rows.size(), kNone);
    }
    AddRows();
    if (options().chains) hist_.trie_->Accumulate();
    if (!members.empty()) JoinRows(members);
    SortAndIndex();
  }

 private:
  // A bucket's state in the current group.
  struct InGroup {
    uint32_t row = kNone;
    uint32_t on_path = 0;  // number of its functions on the walk's current stack
  };
  class RowSums;
  class TrieGrowth;

  const HistOptions& options() const { return hist_.options_; }

  void AddRows() {
    uint32_t buckets = hist_.buckets_.empty() ? hist_.functions_.size() : 0;
    for (const uint32_t bucket : hist_.buckets_) buckets = std::max(buckets, bucket + 1);
    in_group_.assign(buckets, {});
    // In callee order, a function that is too light to be drawn may lead to a function that is
    // drawn, so all functions have nodes.
    if (options().children && options().order == ChainOrder::kCaller && hist_.buckets_.empty()) {
      has_nodes_.resize(buckets);
    }
    hist_.rows_.reserve(buckets);
    for (size_t group = 0; group < groups_.size(); ++group) {
      const std::span<const uint32_t> samples = groups_[group];
      if (samples.empty()) continue;
      first_row_ = hist_.rows_.size();
      AddRowsOf(samples);
      if (options().chains) AddStacksOf(samples);
      for (size_t row = first_row_; row < hist_.rows_.size(); ++row) {
        const uint32_t bucket = hist_.BucketOfRow(row);
        in_group_[bucket] = {};
        if (!has_nodes_.empty()) has_nodes_[bucket] = false;
      }
    }
  }

  void AddRowsOf(std::span<const uint32_t> samples);
  void AddStacksOf(std::span<const uint32_t> samples);
  void ChooseNodes();

  // Passes each sample's stack, and then the sample, to `visitor`.
  void Walk(std::span<const uint32_t> samples, auto& visitor) {
    constexpr size_t kAhead = 8;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i + kAhead < samples.size()) walk_.Prefetch(profile_.rows[samples[i + kAhead]].stack);
      walk_.To(profile_.rows[samples[i]].stack, visitor);
      visitor.Count(samples[i]);
    }
    walk_.End(visitor);
  }

  // Returns the bucket's state in this group. Adds its row if it is new.
  InGroup& RowFor(FunctionId function, uint32_t bucket, uint32_t sample) {
    InGroup& at = in_group_[bucket];
    if (at.row == kNone) {
      at.row = static_cast<uint32_t>(hist_.rows_.size());
      hist_.rows_.push_back(
          {.function = function, .thread = profile_.rows[sample].thread, .sample = sample});
    }
    return at;
  }

  // Adds a sample to the row of the function that it interrupted.
  HistRow& CountSelf(uint32_t sample_id) {
    const Row& sample = profile_.rows[sample_id];
    const FunctionId function = hist_.functions_.Interrupted(sample.self);
    const InGroup& at = RowFor(function, hist_.BucketOf(function), sample_id);
    HistRow& row = hist_.rows_[at.row];
    row.self += WeightOf(sample);
    // Functions on the stack get this sample's `children` when the walk leaves them.
    if (at.on_path == 0) row.children += WeightOf(sample);
    if (options().chains) row_of_sample_[sample_id] = at.row;
    if (options().modes) {
      hist_.modes_.resize(hist_.rows_.size());
      hist_.modes_[at.row].Add(profile_[sample.self].mode, sample.period);
    }
    return row;
  }

  // Adds the members' samples to the rows with the same keys. Appends rows that only members have.
  void JoinRows(std::span<const EventId> members) {
    RowNumbers numbers(hist_);
    for (const HistRow& row : hist_.rows_) numbers.Of(row);
    HistOptions member_options = options();
    member_options.chains = false;
    for (size_t i = 0; i < members.size(); ++i) {
      const Histogram member(profile_, hist_.functions_, members[i], member_options);
      hist_.member_totals_.push_back(member.total());
      for (const HistRow& row : member.rows()) {
        const size_t index = numbers.Of(row);
        if (index == hist_.rows_.size()) {
          hist_.rows_.push_back(
              {.function = row.function, .thread = row.thread, .sample = row.sample});
        }
        hist_.member_weights_.resize(hist_.rows_.size() * members.size());
        EventWeights& weights = hist_.member_weights_[index * members.size() + i];
        weights = {.self = row.self, .children = row.children};
        if (options().modes) weights.modes = member.ModesOf(&row - member.rows().data());
      }
    }
    hist_.member_weights_.resize(hist_.rows_.size() * members.size());
  }

  void SortAndIndex() {
    if (options().modes) hist_.modes_.resize(hist_.rows_.size());
    const HugeVector<uint32_t> order = OrderOfRows(
        {hist_.rows_, hist_.modes_, hist_.member_weights_}, profile_, hist_.functions_, options());
    std::vector<EventWeights> sorted;
    std::vector<ModePeriods> modes;
    for (const uint32_t row : order) {
      const auto members = hist_.MembersOf(row);
      sorted.insert(sorted.end(), members.begin(), members.end());
      if (options().modes) modes.push_back(hist_.modes_[row]);
    }
    hist_.member_weights_ = std::move(sorted);
    hist_.modes_ = std::move(modes);
    MoveRows(order);
    if (!options().chains) return;
    const size_t chained = hist_.rows_with_chains_ = CountChained();
    HugeVector<uint32_t> rank(order.size(), kNone);
    for (uint32_t i = 0; i < chained; ++i) {
      if (MayBeDrawn(hist_.rows_[i].children.period)) rank[order[i]] = i;
    }
    hist_.nodes_by_row_ = MakeIndex(row_of_node_, rank, chained);
    hist_.samples_by_row_ = MakeIndex(row_of_sample_, rank, chained);
  }

  // Returns the number of rows that may have call graphs; these rows come first. Lighter rows have
  // none, because no chain is heavier than its row.
  size_t CountChained() const {
    size_t chained = hist_.rows_.size();
    while (chained > 0 && !MayBeDrawn(hist_.rows_[chained - 1].children.period)) --chained;
    return chained;
  }

  // True if a row or branch of this period may be drawn. Adds 1, because percentages are rounded.
  bool MayBeDrawn(uint64_t period) const {
    const double least = static_cast<double>(hist_.total_.period) * (options().chains_from / 100);
    return static_cast<double>(period) + 1 >= least;
  }

  // Moves row order[i] to i, along the cycles of the permutation. A second table of rows would
  // raise the report's peak of memory.
  void MoveRows(const HugeVector<uint32_t>& order) {
    HugeVector<HistRow>& rows = hist_.rows_;
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

  // Returns for each rank below `end` the items whose row has that rank. row_of[item] is kNone for
  // an item without a row, and rank[row] is kNone for a row without a rank.
  static Index MakeIndex(const HugeVector<uint32_t>& row_of, const HugeVector<uint32_t>& rank,
                         size_t end) {
    auto next = HugeVector<uint32_t>::Zeros(end + 1);
    const auto for_each_item = [&](auto&& visit) {
      for (uint32_t i = 0; i < row_of.size(); ++i) {
        if (row_of[i] != kNone && rank[row_of[i]] != kNone) visit(i, rank[row_of[i]]);
      }
    };
    for_each_item([&](uint32_t, uint32_t at) { ++next[at + 1]; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    Index index{.first = next, .items = HugeVector<uint32_t>(next.back())};
    for_each_item([&](uint32_t item, uint32_t at) { index.items[next[at]++] = item; });
    return index;
  }

  Histogram& hist_;
  const Profile& profile_;
  const SampleGroups groups_;

  StackWalk walk_;
  // [bucket]: True if its functions have nodes in the current group. Empty: all functions have.
  std::vector<bool> has_nodes_;
  size_t first_row_ = 0;          // first row of the current group
  HugeVector<InGroup> in_group_;  // indexed by bucket
  HugeVector<uint32_t> row_of_node_;
  HugeVector<uint32_t> row_of_sample_;
};

// A visitor that sums up the rows of one group. A function's weight is that of the subtrees below
// its outermost frames.
class Histogram::Builder::RowSums {
 public:
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
      InGroup& at = builder_.RowFor(function, bucket, first_);
      ++at.on_path;
      Passed& passed = path_[depth_++];
      passed.before = sum_;
      passed.bucket = bucket;
      passed.deepest = depth_;
      HistRow& row = builder_.hist_.rows_[at.row];
      __builtin_prefetch(&row);
      if (callers_below_) SetDepth(row, depth_);
    }
    return depth_;
  }

  void Count(uint32_t sample_id) {
    SetDepth(builder_.CountSelf(sample_id), depth_);
    sum_ += WeightOf(builder_.profile_.rows[sample_id]);
  }

  void Back(uint32_t functions) {
    uint32_t deepest = path_[depth_ - 1].deepest;
    while (depth_ > functions) {
      const Passed& left = path_[--depth_];
      deepest = std::max(deepest, left.deepest);
      InGroup& at = builder_.in_group_[left.bucket];
      if (--at.on_path != 0) continue;
      HistRow& row = builder_.hist_.rows_[at.row];
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

// A visitor that adds one group to the trie.
class Histogram::Builder::TrieGrowth {
 public:
  explicit TrieGrowth(Builder& builder)
      : builder_(builder),
        functions_(builder.hist_.functions_),
        trie_(*builder.hist_.trie_),
        has_nodes_(builder.has_nodes_) {
    path_.push_back({.node = trie_.AddRoot(), .others = kNoNode, .bucket = kNone});
    builder_.row_of_node_.push_back(kNone);
  }

  void Prefetch(FrameId frame) const { functions_.Prefetch(frame); }

  uint32_t Enter(FrameId frame) {
    const std::span<const FunctionId> functions = functions_.At(frame);
    if (depth_ + functions.size() >= path_.size()) path_.resize(2 * (depth_ + functions.size()));
    for (const FunctionId function : functions) {
      PathStep& above = path_[depth_];
      PathStep& step = path_[++depth_];
      step.others = kNoNode;
      const uint32_t bucket = builder_.hist_.BucketOf(function);
      if (has_nodes_.empty() || has_nodes_[bucket]) {
        InGroup& at = builder_.in_group_[bucket];
        step.node = trie_.AddChild(above.node, function, at.on_path++ != 0);
        step.bucket = bucket;
        builder_.row_of_node_.push_back(at.row);
      } else {
        step.node = OthersBelow(above);
        step.bucket = kNone;
      }
    }
    return depth_;
  }

  void Count(uint32_t sample_id) {
    const NodeId leaf = path_[depth_].node;
    builder_.hist_.leaf_[sample_id] = leaf;
    trie_.Count(leaf, WeightOf(builder_.profile_.rows[sample_id]));
  }

  void Back(uint32_t functions) {
    for (; depth_ > functions; --depth_) {
      const uint32_t bucket = path_[depth_].bucket;
      if (bucket != kNone) --builder_.in_group_[bucket].on_path;
    }
  }

 private:
  struct PathStep {
    NodeId node;
    NodeId others;    // child of `node` for functions without nodes
    uint32_t bucket;  // bucket of the node's function; kNone: the node stands for others
  };

  NodeId OthersBelow(PathStep& above) {
    if (above.bucket == kNone && depth_ > 1) return above.node;
    if (above.others == kNoNode) {
      above.others = trie_.AddOthers(above.node);
      builder_.row_of_node_.push_back(kNone);
    }
    return above.others;
  }

  Builder& builder_;
  const FunctionTable& functions_;
  StackTrie& trie_;
  const std::vector<bool>& has_nodes_;
  std::vector<PathStep> path_;  // the group's root and depth_ functions
  uint32_t depth_ = 0;
};

void Histogram::Builder::AddRowsOf(std::span<const uint32_t> samples) {
  if (options().children) {
    RowSums sums(*this, samples.front());
    Walk(samples, sums);
  } else {
    for (const uint32_t sample : samples) CountSelf(sample);
  }
}

void Histogram::Builder::AddStacksOf(std::span<const uint32_t> samples) {
  const bool any_drawn =
      std::any_of(hist_.rows_.begin() + first_row_, hist_.rows_.end(),
                  [&](const HistRow& row) { return MayBeDrawn(row.children.period); });
  if (!any_drawn) return;
  ChooseNodes();
  TrieGrowth growth(*this);
  Walk(samples, growth);
}

// Decides which functions of the current group have nodes: only functions that may be drawn in one
// of the group's graphs. No branch is heavier than the row of its function. (This also holds for
// inlined functions that share a chain_key but have different rows: they are in different images,
// so the functions above them differ.)
void Histogram::Builder::ChooseNodes() {
  if (has_nodes_.empty()) return;
  for (size_t i = first_row_; i < hist_.rows_.size(); ++i) {
    const HistRow& row = hist_.rows_[i];
    has_nodes_[row.function] = MayBeDrawn(row.children.period);
  }
}

Histogram::Histogram(const Profile& profile, const FunctionTable& functions, EventId event,
                     const HistOptions& options, std::span<const EventId> members)
    : profile_(profile),
      functions_(functions),
      options_(options),
      buckets_(Buckets(profile, functions, options)) {
  Builder(*this, event).Build(members);
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

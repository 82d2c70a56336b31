#include "src/views/report/row_stacks.h"

#include <numeric>
#include <utility>
#include <vector>

#include "src/analysis/stack_walk.h"
#include "src/views/report/sample_groups.h"

namespace profiler::report {

using analysis::StackWalk;
using profile::FrameId;
using profile::Profile;
using profile::Row;

namespace {

constexpr uint32_t kNone = 0xffffffff;

}  // namespace

class RowStacks::Builder {
 public:
  Builder(const Histogram& hist, RowStacks& stacks)
      : hist_(hist),
        profile_(hist.profile()),
        stacks_(stacks),
        // In callee order, a function that is too light to be drawn may lead to a function that is
        // drawn, so all functions have nodes.
        drawn_only_(hist.options().children && hist.options().order == ChainOrder::kCaller &&
                    !hist.buckets().any()),
        buckets_(hist.buckets().end()),
        row_of_sample_(profile_.rows.size(), kNone) {}

  void Build() {
    stacks_.leaf_.assign(profile_.rows.size(), kNoNode);
    size_t rows = 0;  // that may have call graphs
    while (rows < hist_.rows().size() && hist_.MayHaveChains(rows)) ++rows;
    if (hist_.groups() != nullptr) {
      AddGroups(*hist_.groups(), rows);
    } else {
      AddGroups(SampleGroups(profile_, hist_.event(), hist_.options()), rows);
    }
    stacks_.trie_.Accumulate();
    stacks_.nodes_by_row_ = Index(row_of_node_, rows);
    stacks_.samples_by_row_ = Index(row_of_sample_, rows);
  }

 private:
  // A bucket's state in the current group.
  struct InGroup {
    uint32_t row = kNone;  // its row, if that may be drawn
    uint32_t on_path = 0;  // number of its functions on the walk's current stack
  };
  class Growth;

  // Only groups with a row that may be drawn are in the trie.
  void AddGroups(const SampleGroups& groups, size_t rows) {
    std::vector<std::vector<uint32_t>> drawn(groups.size());
    for (uint32_t i = 0; i < rows; ++i) {
      const HistRow& row = hist_.rows()[i];
      if (hist_.MayBeDrawn(row.children.period)) {
        drawn[groups.GroupOf(row)].push_back(i);
      }
    }
    for (size_t group = 0; group < drawn.size(); ++group) {
      if (drawn[group].empty()) continue;
      for (const uint32_t row : drawn[group]) buckets_[hist_.BucketOfRow(row)].row = row;
      AddStacks(groups[group]);
      for (const uint32_t row : drawn[group]) buckets_[hist_.BucketOfRow(row)] = {};
    }
  }

  void AddStacks(std::span<const uint32_t> samples);

  const Histogram& hist_;
  const Profile& profile_;
  RowStacks& stacks_;
  // True if only functions that may be drawn have nodes. No branch is heavier than the row of its
  // function. (This also holds for inlined functions that share a chain_key but have different
  // rows: they are in different images, so the functions above them differ.)
  const bool drawn_only_;
  std::vector<InGroup> buckets_;
  HugeVector<uint32_t> row_of_node_;
  HugeVector<uint32_t> row_of_sample_;
};

// A visitor that adds one group to the trie.
class RowStacks::Builder::Growth {
 public:
  explicit Growth(Builder& builder)
      : builder_(builder), functions_(builder.hist_.functions()), trie_(builder.stacks_.trie_) {
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
      InGroup& at = builder_.buckets_[bucket];
      if (!builder_.drawn_only_ || at.row != kNone) {
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
    const Row& sample = builder_.profile_.rows[sample_id];
    const NodeId leaf = path_[depth_].node;
    builder_.stacks_.leaf_[sample_id] = leaf;
    trie_.Count(leaf, WeightOf(sample));
    const uint32_t bucket = builder_.hist_.BucketOf(functions_.Interrupted(sample.self));
    builder_.row_of_sample_[sample_id] = builder_.buckets_[bucket].row;
  }

  void Back(uint32_t functions) {
    for (; depth_ > functions; --depth_) {
      const uint32_t bucket = path_[depth_].bucket;
      if (bucket != kNone) --builder_.buckets_[bucket].on_path;
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
  std::vector<PathStep> path_;  // the group's root and depth_ functions
  uint32_t depth_ = 0;
};

void RowStacks::Builder::AddStacks(std::span<const uint32_t> samples) {
  constexpr size_t kAhead = 8;
  StackWalk walk(profile_, KeptEnd(hist_.options()), hist_.options().max_stack);
  Growth growth(*this);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i + kAhead < samples.size()) walk.Prefetch(profile_.rows[samples[i + kAhead]].stack);
    walk.To(profile_.rows[samples[i]].stack, growth);
    growth.Count(samples[i]);
  }
  walk.End(growth);
}

RowStacks::Index::Index(const HugeVector<uint32_t>& row_of, size_t rows)
    : first(HugeVector<uint32_t>::Zeros(rows + 1)) {
  for (const uint32_t row : row_of) {
    if (row != kNone) ++first[row + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  HugeVector<uint32_t> next = first;
  items = HugeVector<uint32_t>(next.back());
  for (uint32_t i = 0; i < row_of.size(); ++i) {
    if (row_of[i] != kNone) items[next[row_of[i]]++] = i;
  }
}

RowStacks::RowStacks(const Histogram& hist) : trie_(hist.others()) { Builder(hist, *this).Build(); }

}  // namespace profiler::report

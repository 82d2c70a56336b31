#include "src/report/hist.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/report/row_order.h"

namespace profiler::report {

using profile::Event;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::Thread;
using profile::ThreadId;

namespace {

constexpr uint32_t kNone = 0xffffffff;
constexpr uint32_t kAhead = 16;  // items between asking for memory and reading it

bool Uses(const HistOptions& options, SortKey key) {
  return std::find(options.sort.begin(), options.sort.end(), key) != options.sort.end();
}

template <class T>
bool Holds(const std::vector<T>& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Which threads and interrupted frames pass the filter, decided once for each of them.
class FilterTable {
 public:
  FilterTable(const Profile& profile, const FunctionTable& functions, const Filter& filter) {
    if (filter.empty()) return;
    threads_.reserve(profile.threads.size());
    for (const Thread& thread : profile.threads) {
      threads_.push_back((filter.comms.empty() || Holds(filter.comms, profile.text(thread.comm))) &&
                         (filter.pids.empty() || Holds(filter.pids, thread.pid)) &&
                         (filter.tids.empty() || Holds(filter.tids, thread.tid)));
    }
    frames_.reserve(profile.frames.size());
    for (uint32_t i = 0; i < profile.frames.size(); ++i) {
      const FunctionId id = functions.Interrupted(FrameId{i});
      if (id == kNoFunction) {
        frames_.push_back(false);
        continue;
      }
      const Function& function = functions[id];
      const profile::Dso& dso = profile[profile.frames[i].dso];
      frames_.push_back((filter.dsos.empty() || Holds(filter.dsos, profile.text(dso.name)) ||
                         Holds(filter.dsos, profile.text(dso.long_name))) &&
                        (filter.symbols.empty() ||
                         (function.named() && Holds(filter.symbols, profile.text(function.name)))));
    }
  }

  bool Passes(const Row& sample) const {
    return threads_.empty() || (threads_[static_cast<uint32_t>(sample.thread)] &&
                                frames_[static_cast<uint32_t>(sample.self)]);
  }

 private:
  std::vector<bool> threads_;
  std::vector<bool> frames_;
};

// The same with sort keys that tell apart where in a function code is.
void BucketPlaces(const Profile& profile, const FunctionTable& functions,
                  const HistOptions& options, HugeVector<uint32_t>& buckets) {
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (FunctionId id = 0; id < functions.size(); ++id) {
    std::vector<uint32_t> key;
    for (const SortKey sort : options.sort) {
      if (sort == SortKey::kSymbol) key.push_back(functions[id].chain_key);
      if (sort == SortKey::kDso) {
        key.push_back(static_cast<uint32_t>(profile[functions[id].dso].name));
      }
      if (functions.places()->Has(sort)) {
        key.push_back(functions.places()->TextId(functions.PlaceOf(id), sort));
      }
    }
    buckets[id] = known.try_emplace(std::move(key), id).first->second;
  }
}

// Functions that the sort keys cannot tell apart share a bucket.
HugeVector<uint32_t> Buckets(const Profile& profile, const FunctionTable& functions,
                             const HistOptions& options) {
  HugeVector<uint32_t> buckets(functions.size(), 0);
  if (functions.places() != nullptr) {
    BucketPlaces(profile, functions, options, buckets);
    return buckets;
  }
  if (Uses(options, SortKey::kSymbol)) {
    // Without the dso as a key, an unnamed address is the same in all of them.
    const bool merge_unnamed = !Uses(options, SortKey::kDso);
    absl::flat_hash_map<uint64_t, uint32_t> unnamed;
    for (FunctionId id = 0; id < functions.size(); ++id) {
      const Function& function = functions[id];
      buckets[id] = function.named() || !merge_unnamed
                        ? id
                        : unnamed.try_emplace(function.address, id).first->second;
    }
  } else if (Uses(options, SortKey::kDso)) {
    for (FunctionId id = 0; id < functions.size(); ++id) {
      buckets[id] = static_cast<uint32_t>(profile[functions[id].dso].name);
    }
  }
  return buckets;
}

// By thread: the thread's last entry, which has its last name.
std::vector<ThreadId> LatestNames(const Profile& profile) {
  absl::flat_hash_map<uint32_t, ThreadId> by_tid;
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    by_tid[profile.threads[i].tid] = ThreadId{i};
  }
  std::vector<ThreadId> latest;
  latest.reserve(profile.threads.size());
  for (const Thread& thread : profile.threads) latest.push_back(by_tid[thread.tid]);
  return latest;
}

// By thread: a number that is equal where the sort keys cannot tell threads apart.
std::vector<uint32_t> ThreadGroups(const Profile& profile, const HistOptions& options) {
  const bool by_tid = Uses(options, SortKey::kPid) || Uses(options, SortKey::kTid);
  const bool by_pid = Uses(options, SortKey::kTgid);
  const bool by_comm = Uses(options, SortKey::kComm);
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, StringId>, uint32_t> groups;
  std::vector<uint32_t> group_of;
  group_of.reserve(profile.threads.size());
  for (const Thread& thread : profile.threads) {
    const std::tuple key(by_tid ? thread.tid : 0, by_pid ? thread.pid : 0,
                         by_comm ? thread.comm : StringId::kEmpty);
    group_of.push_back(groups.try_emplace(key, groups.size()).first->second);
  }
  return group_of;
}

}  // namespace

class Histogram::Builder {
 public:
  Builder(Histogram& hist, EventId event) : hist_(hist), profile_(hist.profile_), event_(event) {}

  void Build() {
    GroupSamples();
    if (NeedsTrie()) {
      hist_.trie_ = std::make_unique<StackTrie>(profile_, hist_.functions_, hist_.buckets_,
                                                KeptEnd(), options().max_stack);
      hist_.leaf_.assign(profile_.rows.size(), kNoNode);
    }
    if (options().chains) row_of_sample_.assign(profile_.rows.size(), kNone);
    AddStacks();
    AddRows();
    if (NeedsTrie()) hist_.trie_->ForgetDepths();
    SortAndIndex();
    if (!options().chains) {
      hist_.trie_ = nullptr;
      hist_.leaf_ = {};
    }
  }

 private:
  // The samples of one group, and its nodes in the trie.
  struct Group {
    size_t first = 0, end = 0;  // of samples_
    NodeId first_node = 0, end_node = 0;
  };

  const HistOptions& options() const { return hist_.options_; }
  bool NeedsTrie() const { return options().children || options().chains; }

  // Rows of their own samples need no frames beyond the interrupted one: drawing callers stops in
  // time.
  StackTrie::Keep KeptEnd() const {
    if (options().order == ChainOrder::kCaller) return StackTrie::Keep::kOutermost;
    return options().children ? StackTrie::Keep::kInnermost : StackTrie::Keep::kAll;
  }

  // Fills total_, samples_ and groups_.
  void GroupSamples() {
    const FilterTable filter(profile_, hist_.functions_, options().filter);
    const std::vector<uint32_t> thread_group = ThreadGroups(profile_, options());
    const bool by_cpu = Uses(options(), SortKey::kCpu);
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> cpu_group;

    HugeVector<uint32_t> group_of(profile_.rows.size(), kNone);
    std::vector<uint32_t> sizes;
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& sample = profile_.rows[i];
      if (sample.event != event_) continue;
      const bool passes = filter.Passes(sample);
      if (passes || !options().relative_percentages) {
        hist_.total_ += {.period = sample.period, .count = sample.count};
      }
      if (!passes) continue;
      uint32_t group = thread_group[static_cast<uint32_t>(sample.thread)];
      if (by_cpu) {
        const std::pair key(group, sample.cpu);
        group = cpu_group.try_emplace(key, cpu_group.size()).first->second;
      }
      if (group >= sizes.size()) sizes.resize(group + 1, 0);
      ++sizes[group];
      group_of[i] = group;
    }

    size_t end = 0;
    std::vector<size_t> next;
    for (const uint32_t size : sizes) {
      next.push_back(end);
      groups_.push_back({.first = end, .end = end + size});
      end += size;
    }
    samples_.resize(end);
    for (uint32_t i = 0; i < group_of.size(); ++i) {
      if (group_of[i] != kNone) samples_[next[group_of[i]]++] = i;
    }
  }

  void AddStacks() {
    if (!NeedsTrie()) return;
    StackTrie& trie = *hist_.trie_;
    for (Group& group : groups_) {
      group.first_node = trie.StartGroup() + 1;
      for (size_t i = group.first; i < group.end; ++i) {
        if (i + kAhead < group.end) trie.Prefetch(profile_.rows[samples_[i + kAhead]].stack);
        const Row& sample = profile_.rows[samples_[i]];
        hist_.leaf_[samples_[i]] =
            trie.Add(sample.stack, {.period = sample.period, .count = sample.count});
      }
      group.end_node = trie.size();
    }
    trie.Accumulate();
  }

  void AddRows() {
    uint32_t buckets = 0;
    for (const uint32_t bucket : hist_.buckets_) buckets = std::max(buckets, bucket + 1);
    row_of_bucket_.assign(buckets, kNone);
    hist_.rows_.reserve(buckets);
    if (options().children && options().chains) row_of_node_.assign(hist_.trie_->size(), kNone);
    for (const Group& group : groups_) {
      if (group.first == group.end) continue;
      const size_t first_row = hist_.rows_.size();
      if (options().children) AddChildren(group);
      AddSelf(group);
      for (size_t row = first_row; row < hist_.rows_.size(); ++row) {
        row_of_bucket_[hist_.BucketOfRow(row)] = kNone;
      }
    }
  }

  // A function has the samples of its outermost nodes' subtrees.
  void AddChildren(const Group& group) {
    const StackTrie& trie = *hist_.trie_;
    const Row& first = profile_.rows[samples_[group.first]];
    for (NodeId id = group.first_node; id < group.end_node; ++id) {
      if (id + kAhead < group.end_node) PrefetchRow(trie[id + kAhead].function);
      const TrieNode& node = trie[id];
      const uint32_t row_id = RowFor(node.function, first);
      HistRow& row = hist_.rows_[row_id];
      if (!row_of_node_.empty()) row_of_node_[id] = row_id;
      const bool outermost = !trie.IsNested(id);
      if (outermost) row.children += node.weight;
      const NodeDepth depth = trie.Depth(id);
      if (options().order == ChainOrder::kCallee) {
        row.chain_depth = std::max(row.chain_depth, depth.own);
      } else if (outermost) {
        row.chain_depth =
            std::max(row.chain_depth, static_cast<uint16_t>(depth.deepest - depth.own + 1));
      }
    }
  }

  void PrefetchRow(FunctionId function) const {
    const uint32_t row = row_of_bucket_[hist_.buckets_[function]];
    if (row != kNone) __builtin_prefetch(&hist_.rows_[row]);
  }

  void AddSelf(const Group& group) {
    const size_t first_without_nodes = hist_.rows_.size();
    for (size_t i = group.first; i < group.end; ++i) {
      const uint32_t sample_id = samples_[i];
      const Row& sample = profile_.rows[sample_id];
      const Weight weight{.period = sample.period, .count = sample.count};
      const FunctionId function = hist_.functions_.Interrupted(sample.self);
      const uint32_t row_id = RowFor(function, sample);
      HistRow& row = hist_.rows_[row_id];
      row.self += weight;
      if (!options().children) {
        row.children += weight;
      } else {
        const NodeId leaf = hist_.leaf_[sample_id];
        if (row_id >= first_without_nodes || !OnPath(leaf, hist_.buckets_[function])) {
          row.children += weight;
        }
        row.chain_depth = std::max(row.chain_depth, hist_.trie_->Depth(leaf).own);
      }
      if (!row_of_sample_.empty()) row_of_sample_[sample_id] = row_id;
    }
  }

  bool OnPath(NodeId node, uint32_t bucket) const {
    const StackTrie& trie = *hist_.trie_;
    for (; !trie.IsRoot(node); node = trie[node].parent) {
      if (hist_.buckets_[trie[node].function] == bucket) return true;
    }
    return false;
  }

  uint32_t RowFor(FunctionId function, const Row& sample) {
    uint32_t& row = row_of_bucket_[hist_.buckets_[function]];
    if (row == kNone) {
      row = static_cast<uint32_t>(hist_.rows_.size());
      hist_.rows_.push_back({.function = function, .thread = sample.thread, .cpu = sample.cpu});
    }
    return row;
  }

  void SortAndIndex() {
    const HugeVector<uint32_t> order =
        OrderOfRows(hist_.rows_, profile_, hist_.functions_, options());
    MoveRows(order);
    if (!options().chains) return;
    const size_t chained = hist_.rows_with_chains_ = CountChained();
    HugeVector<uint32_t> rank(order.size(), kNone);
    for (uint32_t i = 0; i < chained; ++i) rank[order[i]] = i;
    hist_.nodes_by_row_ = MakeIndex(row_of_node_, rank, chained);
    hist_.samples_by_row_ = MakeIndex(row_of_sample_, rank, chained);
  }

  // No chain is heavier than its row. One more, as percentages are rounded.
  size_t CountChained() const {
    const double least = static_cast<double>(hist_.total_.period) * (options().chains_from / 100);
    const auto end = std::find_if(hist_.rows_.begin(), hist_.rows_.end(), [&](const HistRow& row) {
      return static_cast<double>(row.children.period) + 1 < least;
    });
    return static_cast<size_t>(end - hist_.rows_.begin());
  }

  // Puts row order[i] at i, one cycle of the permutation after the other: a second table of rows
  // would be what the whole report's peak of memory is.
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

  // Turns "item → row → rank" around, for ranks below `end`; kNone is no row, or no rank.
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
  const EventId event_;

  HugeVector<uint32_t> samples_;  // that pass the filter, by group
  std::vector<Group> groups_;
  HugeVector<uint32_t> row_of_bucket_;  // within the group at hand
  HugeVector<uint32_t> row_of_node_;
  HugeVector<uint32_t> row_of_sample_;
};

Histogram::Histogram(const Profile& profile, const FunctionTable& functions, EventId event,
                     const HistOptions& options)
    : profile_(profile),
      functions_(functions),
      options_(options),
      buckets_(Buckets(profile, functions, options)),
      latest_(LatestNames(profile)) {
  Builder(*this, event).Build();
}

bool HasCallChains(const Profile& profile, EventId event) {
  return std::any_of(profile.rows.begin(), profile.rows.end(), [&](const Row& sample) {
    return sample.event == event && profile[sample.stack].depth > 1;
  });
}

}  // namespace profiler::report

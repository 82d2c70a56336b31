#include "src/views/flamegraph/call_tree.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/stack_trie.h"
#include "src/analysis/stack_walk.h"

namespace profiler::exports {
namespace {

using analysis::kNoNode;
using analysis::NodeId;
using analysis::StackTrie;
using analysis::StackWalk;
using profile::FrameId;
using profile::Profile;
using profile::Row;

// The path of a StackWalk as nodes of the trie, below a process's node.
class LabelPath {
 public:
  LabelPath(StackTrie& trie, NodeId process, const FrameLabels& labels)
      : trie_(trie), labels_(labels), path_({process}) {}

  void Prefetch(FrameId) const {}
  uint32_t Enter(FrameId frame) {
    for (const LabelId label : labels_[frame]) {
      path_.push_back(trie_.AddChild(path_.back(), label));
    }
    return static_cast<uint32_t>(path_.size() - 1);
  }
  void Back(uint32_t labels) { path_.resize(labels + 1); }

  NodeId innermost() const { return path_.back(); }

 private:
  StackTrie& trie_;
  const FrameLabels& labels_;
  std::vector<NodeId> path_;
};

// Builds the trie of all processes' stacks; the processes are children of the root.
StackTrie TrieOf(const Profile& profile, std::vector<ProcessRows>& processes, WeightBy weight) {
  StackTrie trie;
  const NodeId root = trie.AddRoot();
  const HugeVector<uint32_t> numbers = analysis::DepthFirst(profile.stacks);
  for (ProcessRows& process : processes) {
    analysis::SortDepthFirst(profile, numbers, process.rows);
    StackWalk walk(profile, StackWalk::Keep::kAll, 0);
    LabelPath path(trie, trie.AddChild(root, process.label), *process.frames);
    for (const uint32_t row : process.rows) {
      walk.To(profile.rows[row].stack, path);
      trie.Count(path.innermost(), WeightOf(profile.rows[row], weight));
    }
  }
  return trie;
}

// A node of the trie that samples pass through.
struct Cursor {
  LabelId label = kNoLabel;
  NodeId node = kNoNode;
  // The node with the weight of these samples: `node`, or with `reverse` the samples' leaf.
  NodeId samples = kNoNode;
};

// Cursors with equal labels: they will become one child of the call tree's node `parent`.
struct Group {
  uint32_t parent = 0;
  // Index in pool_ of the group's first cursor. When the group is processed, its cursors are the
  // last ones of the pool.
  uint32_t first = 0;
  Weight total;
};

// A merger of the trie's nodes by label. It works from the root down or, with `reverse`, from the
// leaves up.
class Merger {
 public:
  Merger(const StackTrie& trie, const CallTreeOptions& options, CallTree& tree)
      : trie_(trie), options_(options), tree_(tree) {}

  // Builds the tree from `roots`, the cursors of the root's children.
  void Run(std::vector<Cursor> roots) {
    PushGroups(0, std::move(roots));
    while (!groups_.empty()) {
      const Group group = groups_.back();
      groups_.pop_back();
      next_.clear();
      const auto id = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({pool_[group.first].label, group.parent,
                             tree_.nodes[group.parent].depth + 1, group.total, 0});
      for (uint32_t i = group.first; i < pool_.size(); ++i) PushNext(pool_[i]);
      pool_.resize(group.first);
      PushGroups(id, std::move(next_));
    }
  }

 private:
  void PushNext(const Cursor& at) {
    if (options_.reverse) {
      const NodeId caller = trie_[at.node].parent;
      if (!trie_.IsRoot(caller)) next_.push_back({trie_[caller].code, caller, at.samples});
      return;
    }
    for (NodeId child = trie_[at.node].first_child; child != kNoNode;
         child = trie_[child].next_sibling) {
      next_.push_back({trie_[child].code, child, child});
    }
  }

  // Groups `cursors` by label. Pushes the groups in reverse order, so that the group of the first
  // label is processed first.
  void PushGroups(uint32_t parent, std::vector<Cursor> cursors) {
    if (cursors.size() > 1) {
      std::sort(cursors.begin(), cursors.end(),
                [](const Cursor& a, const Cursor& b) { return a.label > b.label; });
    }
    uint64_t below = 0;
    for (size_t begin = 0; begin < cursors.size();) {
      Weight total;
      size_t end = begin;
      const auto first = static_cast<uint32_t>(pool_.size());
      for (; end < cursors.size() && cursors[end].label == cursors[begin].label; ++end) {
        total += trie_[cursors[end].samples].weight;
      }
      below += total.period;
      if (total.period < options_.min_period) {
        ++tree_.dropped;
      } else {
        pool_.insert(pool_.end(), cursors.begin() + static_cast<ptrdiff_t>(begin),
                     cursors.begin() + static_cast<ptrdiff_t>(end));
        groups_.push_back({parent, first, total});
      }
      begin = end;
    }
    CallNode& node = tree_.nodes[parent];
    node.self = node.total.period - std::min(below, node.total.period);
    next_ = std::move(cursors);  // reuses its memory
  }

  const StackTrie& trie_;
  const CallTreeOptions& options_;
  CallTree& tree_;
  std::vector<Group> groups_;
  std::vector<Cursor> pool_;
  std::vector<Cursor> next_;
};

}  // namespace

std::vector<ProcessRows> RowsByProcess(const Profile& profile, profile::EventId event,
                                       absl::FunctionRef<LabelId(std::string_view comm)> label_of) {
  std::vector<ProcessRows> processes;
  absl::flat_hash_map<LabelId, size_t> by_label;
  absl::flat_hash_map<StringId, size_t> by_comm;
  for (uint32_t index = 0; index < profile.rows.size(); ++index) {
    const Row& row = profile.rows[index];
    if (row.event != event || row.count == 0) continue;
    const StringId comm = profile[row.thread].comm;
    auto [known, added] = by_comm.try_emplace(comm, 0);
    if (added) {
      const LabelId label = label_of(profile.text(comm));
      auto [process, first] = by_label.try_emplace(label, processes.size());
      if (first) processes.push_back({label, nullptr, {}});
      known->second = process->second;
    }
    processes[known->second].rows.push_back(index);
  }
  return processes;
}

CallTree BuildCallTree(const Profile& profile, std::vector<ProcessRows> processes,
                       const CallTreeOptions& options) {
  StackTrie trie = TrieOf(profile, processes, options.weight);
  CallTree tree;
  CallNode& root = tree.nodes.emplace_back();
  std::vector<Cursor> cursors;
  for (NodeId node = 1; node < trie.size(); ++node) {
    root.total += trie[node].weight;
    if (options.reverse && trie[node].weight.count != 0) {
      cursors.push_back({trie[node].code, node, node});
    }
  }
  if (!options.reverse) {
    trie.Accumulate();
    if (options.min_period == 0) tree.nodes.reserve(trie.size());
    for (NodeId process = trie[0].first_child; process != kNoNode;
         process = trie[process].next_sibling) {
      cursors.push_back({trie[process].code, process, process});
    }
  }
  Merger(trie, options, tree).Run(std::move(cursors));
  return tree;
}

}  // namespace profiler::exports

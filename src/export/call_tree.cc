#include "src/export/call_tree.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace profiler::exports {
namespace {

using profile::Profile;
using profile::Row;
using profile::StackId;

constexpr uint32_t kNone = 0xffffffff;

uint32_t Index(StackId id) { return static_cast<uint32_t>(id); }

// One stack node (or, reversed, one frame of one row's stack) in the set of a tree node.
struct Cursor {
  LabelId label = kNoLabel;
  uint32_t stack = kNone;  // reversed: kNone at the process, after the outermost frame
  uint32_t position = 0;   // in the labels of the stack node's frame
  uint32_t entry = kNone;  // reversed only
};

// Steps from the root to the leaf. Sums the rows of one process up over the stack nodes that they
// touch, and links those to their parents.
class FromRoot {
 public:
  FromRoot(const Profile& profile, WeightBy weight)
      : profile_(profile),
        weight_(weight),
        states_(profile.stacks.size()),
        is_touched_(profile.stacks.size(), false) {}

  // Forgets the process before.
  void Start(const ProcessRows& process) {
    frames_ = process.frames;
    roots_ = kNone;
    for (uint32_t index : process.rows) Touch(profile_.rows[index]);
    for (; !touched_.empty(); touched_.pop_back()) {
      const uint32_t stack = touched_.back();
      const uint32_t parent = Index(profile_.stacks[stack].parent);
      is_touched_[stack] = false;
      State& state = states_[stack];
      if (parent == kNone) {
        state.next_sibling = std::exchange(roots_, stack);
      } else {
        states_[parent].total += state.total;
        state.next_sibling = std::exchange(states_[parent].first_child, stack);
      }
    }
  }

  void PushRoots(std::vector<Cursor>& out) { PushSiblings(roots_, out); }

  void PushNext(const Cursor& at, std::vector<Cursor>& out) {
    const auto labels = LabelsOf(at.stack);
    if (at.position + 1 < labels.size()) {
      out.push_back({labels[at.position + 1], at.stack, at.position + 1, kNone});
    } else {
      PushSiblings(states_[at.stack].first_child, out);
    }
  }

  Weight WeightOfCursor(const Cursor& at) const { return states_[at.stack].total; }

 private:
  struct State {
    Weight total;
    uint32_t first_child = kNone;
    uint32_t next_sibling = kNone;
  };

  std::span<const LabelId> LabelsOf(uint32_t stack) const {
    return (*frames_)[profile_.stacks[stack].frame];
  }

  // Adds the stack nodes of `row` that are new to the end of touched_, callers first: so every node
  // stands behind its parent.
  void Touch(const Row& row) {
    const uint32_t leaf = Index(row.stack);
    const auto first = static_cast<ptrdiff_t>(touched_.size());
    for (uint32_t stack = leaf; stack != kNone && !is_touched_[stack];
         stack = Index(profile_.stacks[stack].parent)) {
      touched_.push_back(stack);
      is_touched_[stack] = true;
      states_[stack] = State();
    }
    std::reverse(touched_.begin() + first, touched_.end());
    states_[leaf].total += WeightOf(row, weight_);
  }

  // Frames without a label are stepped over: their children take their place.
  void PushSiblings(uint32_t first, std::vector<Cursor>& out) {
    skipped_.clear();
    for (;;) {
      for (uint32_t stack = first; stack != kNone; stack = states_[stack].next_sibling) {
        const auto labels = LabelsOf(stack);
        if (labels.empty()) {
          if (states_[stack].first_child != kNone) skipped_.push_back(states_[stack].first_child);
        } else {
          out.push_back({labels[0], stack, 0, kNone});
        }
      }
      if (skipped_.empty()) return;
      first = skipped_.back();
      skipped_.pop_back();
    }
  }

  const Profile& profile_;
  const WeightBy weight_;
  const FrameLabels* frames_ = nullptr;
  std::vector<State> states_;  // valid for stack nodes of the process
  std::vector<bool> is_touched_;
  std::vector<uint32_t> touched_;
  uint32_t roots_ = kNone;
  std::vector<uint32_t> skipped_;
};

// Steps from the leaf to the root, and then to the process.
class FromLeaf {
 public:
  FromLeaf(const Profile& profile, WeightBy weight, const std::vector<ProcessRows>& processes)
      : profile_(profile) {
    for (const ProcessRows& process : processes) {
      for (uint32_t index : process.rows) {
        const Row& row = profile.rows[index];
        entries_.push_back({&process, Index(row.stack), WeightOf(row, weight)});
      }
    }
  }

  void PushRoots(std::vector<Cursor>& out) const {
    for (uint32_t entry = 0; entry < entries_.size(); ++entry) {
      PushFrame(entry, entries_[entry].stack, out);
    }
  }

  void PushNext(const Cursor& at, std::vector<Cursor>& out) const {
    if (at.stack == kNone) return;
    if (at.position == 0) {
      PushFrame(at.entry, Index(profile_.stacks[at.stack].parent), out);
    } else {
      const auto labels = LabelsOf(at.entry, at.stack);
      out.push_back({labels[at.position - 1], at.stack, at.position - 1, at.entry});
    }
  }

  Weight WeightOfCursor(const Cursor& at) const { return entries_[at.entry].weight; }

 private:
  // A row of a process.
  struct Entry {
    const ProcessRows* process = nullptr;
    uint32_t stack = kNone;
    Weight weight;
  };

  std::span<const LabelId> LabelsOf(uint32_t entry, uint32_t stack) const {
    return (*entries_[entry].process->frames)[profile_.stacks[stack].frame];
  }

  void PushFrame(uint32_t entry, uint32_t stack, std::vector<Cursor>& out) const {
    for (; stack != kNone; stack = Index(profile_.stacks[stack].parent)) {
      const auto labels = LabelsOf(entry, stack);
      if (labels.empty()) continue;
      const auto innermost = static_cast<uint32_t>(labels.size() - 1);
      out.push_back({labels[innermost], stack, innermost, entry});
      return;
    }
    out.push_back({entries_[entry].process->label, kNone, 0, entry});
  }

  const Profile& profile_;
  std::vector<Entry> entries_;
};

// A set of cursors with the same label under the same tree node, not yet looked into.
struct Group {
  uint32_t parent = 0;
  uint32_t first = 0;  // its cursors are at the end of the pool when it is its turn
  Weight total;
};

template <class Steps>
class Merger {
 public:
  Merger(Steps& steps, uint64_t min_period, CallTree& tree)
      : steps_(steps), min_period_(min_period), tree_(tree) {}

  // Adds all that is below tree node `parent`, whose children's cursors are `roots`.
  void Run(uint32_t parent, std::vector<Cursor> roots) {
    PushGroups(parent, std::move(roots));
    while (!groups_.empty()) {
      const Group group = groups_.back();
      groups_.pop_back();
      next_.clear();
      const auto id = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({pool_[group.first].label, group.parent,
                             tree_.nodes[group.parent].depth + 1, group.total, 0});
      for (uint32_t i = group.first; i < pool_.size(); ++i) steps_.PushNext(pool_[i], next_);
      pool_.resize(group.first);
      PushGroups(id, std::move(next_));
    }
  }

 private:
  // Groups `cursors` by label, the first label on top.
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
        total += steps_.WeightOfCursor(cursors[end]);
      }
      below += total.period;
      if (total.period < min_period_) {
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
    next_ = std::move(cursors);  // its memory is used again
  }

  Steps& steps_;
  const uint64_t min_period_;
  CallTree& tree_;
  std::vector<Group> groups_;
  std::vector<Cursor> pool_;
  std::vector<Cursor> next_;
};

Weight TotalOf(const Profile& profile, const ProcessRows& process, WeightBy weight) {
  Weight total;
  for (uint32_t row : process.rows) total += WeightOf(profile.rows[row], weight);
  return total;
}

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

void SortProcesses(std::vector<ProcessRows>& processes, std::span<const LabelId> new_ids) {
  for (ProcessRows& process : processes) process.label = new_ids[process.label];
  std::sort(processes.begin(), processes.end(),
            [](const ProcessRows& a, const ProcessRows& b) { return a.label < b.label; });
}

CallTree BuildCallTree(const Profile& profile, const std::vector<ProcessRows>& processes,
                       const CallTreeOptions& options) {
  CallTree tree;
  CallNode& root = tree.nodes.emplace_back();
  for (const ProcessRows& process : processes) {
    root.total += TotalOf(profile, process, options.weight);
  }
  std::vector<Cursor> cursors;
  if (options.reverse) {
    FromLeaf steps(profile, options.weight, processes);
    steps.PushRoots(cursors);
    Merger<FromLeaf>(steps, options.min_period, tree).Run(0, std::move(cursors));
    return tree;
  }
  FromRoot steps(profile, options.weight);
  if (options.min_period == 0) tree.nodes.reserve(profile.stacks.size() + processes.size() + 1);
  for (const ProcessRows& process : processes) {
    const Weight total = TotalOf(profile, process, options.weight);
    if (total.period < options.min_period || total.count == 0) {
      tree.dropped += total.count != 0;
      continue;
    }
    const auto id = static_cast<uint32_t>(tree.nodes.size());
    tree.nodes.push_back({process.label, 0, 1, total, 0});
    steps.Start(process);
    cursors.clear();
    steps.PushRoots(cursors);
    Merger<FromRoot>(steps, options.min_period, tree).Run(id, std::move(cursors));
  }
  return tree;
}

}  // namespace profiler::exports

#include "src/views/page/call_paths.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/base/radix_sort.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/views/flamegraph/frame_labels.h"
#include "src/views/flamegraph/xml_text.h"
#include "src/views/page/merged_rows.h"

namespace profiler::page {
namespace {

using exports::CodeKind;
using exports::FrameLabels;
using exports::LabelId;
using profile::Profile;
using profile::Row;
using profile::StackId;

// Returns the name without modifiers: "cpu-clock" for "cpu-clock:u".
std::string_view BareName(std::string_view event) { return event.substr(0, event.find(':')); }

bool IsTime(std::string_view bare) {
  constexpr std::array kTimes = {std::string_view("cpu-clock"), std::string_view("task-clock"),
                                 kRunningEvent};
  return IsOffCpuEvent(bare) || std::find(kTimes.begin(), kTimes.end(), bare) != kTimes.end();
}

// The tree in the order in which its nodes were met.
class PathTree {
 public:
  struct Node {
    uint32_t parent = 0;
    LabelId label = exports::kNoLabel;
  };

  uint32_t ChildOf(uint32_t parent, LabelId label) {
    const auto [found, is_new] =
        children_.try_emplace(uint64_t{parent} << 32 | label, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, label});
    return found->second;
  }
  std::vector<Node>& nodes() { return nodes_; }

 private:
  std::vector<Node> nodes_ = {{}};
  absl::flat_hash_map<uint64_t, uint32_t> children_;
};

// A reader that adds the rows of one side.
class SideReader {
 public:
  SideReader(const Side& side, uint32_t number, CallPaths& paths, PathTree& tree)
      : profile_(*side.profile),
        side_(number),
        paths_(paths),
        tree_(tree),
        labels_(exports::LabelFrames(profile_, paths.labels)),
        first_event_(static_cast<uint32_t>(paths.events.size())),
        first_thread_(static_cast<uint32_t>(paths.threads.size())) {}

  void Read() {
    AddEvents();
    AddThreads();
    paths_.unnamed.resize(paths_.events.size());
    for (const std::vector<uint32_t>& rows : RowsByProcess()) ReadProcess(rows);
  }

 private:
  void AddEvents() {
    const bool is_complete =
        profile_.losses.lost_records + profile_.losses.lost_samples + profile_.losses.throttled ==
        0;
    for (const profile::Event& event : profile_.events) {
      const std::string_view bare = BareName(profile_.text(event.name));
      paths_.events.push_back(
          {.name = exports::CleanUtf8(profile_.text(event.name)),
           .side = side_,
           .is_time = IsTime(bare),
           .is_off_cpu = IsOffCpuEvent(bare),
           .is_count = is_complete && (IsOffCpuEvent(bare) || event.period == event.samples)});
      state_labels_.push_back(StateOf(bare));
    }
  }

  // Returns the label of the frame that off-CPU time gets on top of its stacks.
  LabelId StateOf(std::string_view bare) {
    if (!IsOffCpuEvent(bare)) return exports::kNoLabel;
    return paths_.labels.Intern({.name = bare == kBlockedEvent ? "[blocked]" : "[preempted]",
                                 .image = {},
                                 .kind = CodeKind::kOffCpu});
  }

  void AddThreads() {
    for (const profile::Thread& thread : profile_.threads) {
      paths_.threads.push_back({.pid = thread.pid,
                                .tid = thread.tid,
                                .comm = exports::CleanUtf8(profile_.text(thread.comm)),
                                .side = side_});
    }
  }

  std::vector<std::vector<uint32_t>> RowsByProcess() const {
    absl::flat_hash_map<StringId, uint32_t> groups;
    std::vector<std::vector<uint32_t>> rows;
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const StringId comm = profile_[profile_.rows[i].thread].comm;
      const auto [group, is_new] = groups.try_emplace(comm, static_cast<uint32_t>(rows.size()));
      if (is_new) rows.emplace_back();
      rows[group->second].push_back(i);
    }
    return rows;
  }

  void ReadProcess(const std::vector<uint32_t>& rows) {
    const std::string& comm =
        paths_.threads[first_thread_ + static_cast<uint32_t>(profile_.rows[rows[0]].thread)].comm;
    const uint32_t process = tree_.ChildOf(
        0, paths_.labels.Intern({.name = comm, .image = {}, .kind = CodeKind::kProcess}));
    ++generation_;
    if (path_of_.empty()) path_of_.resize(profile_.stacks.size());
    for (const uint32_t row : rows) AddRow(row, process);
  }

  void AddRow(uint32_t number, uint32_t process) {
    const Row& row = profile_.rows[number];
    const auto own_event = static_cast<uint32_t>(row.event);
    const uint32_t event = first_event_ + own_event;
    // If samples have no period, each counts as 1.
    const uint64_t period = row.period == 0 ? row.count : row.period;
    uint32_t path = PathOf(row.stack, process);
    if (state_labels_[own_event] != exports::kNoLabel) {
      path = tree_.ChildOf(path, state_labels_[own_event]);
    }
    const auto& slices = profile_.column(profile::Dimension::kSlice);
    paths_.rows.push_back({.event = event,
                           .thread = first_thread_ + static_cast<uint32_t>(row.thread),
                           .slice = slices.empty() ? 0 : slices[number],
                           .path = path,
                           .count = row.count,
                           .period = period});
    paths_.events[event].samples += row.count;
    paths_.events[event].period += period;
    const profile::Frame& leaf = profile_[profile_[row.stack].frame];
    if (leaf.unnamed != profile::Unnamed::kNamed) paths_.unnamed[event] += period;
  }

  // Finds the nearest caller with a known path, and extends it down to the whole stack.
  uint32_t PathOf(StackId stack, uint32_t process) {
    pending_.clear();
    for (; stack != profile::kNoStack && At(stack).generation != generation_;
         stack = profile_[stack].parent) {
      pending_.push_back(stack);
    }
    uint32_t path = stack == profile::kNoStack ? process : At(stack).path;
    for (size_t i = pending_.size(); i-- > 0;) {
      for (const LabelId label : labels_[profile_[pending_[i]].frame]) {
        path = tree_.ChildOf(path, label);
      }
      At(pending_[i]) = {generation_, path};
    }
    return path;
  }

  struct Found {
    uint32_t generation = 0;
    uint32_t path = 0;
  };
  Found& At(StackId stack) { return path_of_[static_cast<uint32_t>(stack)]; }

  const Profile& profile_;
  const uint32_t side_;
  CallPaths& paths_;
  PathTree& tree_;
  const FrameLabels labels_;
  const uint32_t first_event_, first_thread_;
  std::vector<LabelId> state_labels_;  // indexed by event of the profile
  std::vector<Found> path_of_;         // indexed by StackId; valid for the current process
  std::vector<StackId> pending_;
  uint32_t generation_ = 0;
};

// Numbers the tree depth first; siblings are sorted by the names of their labels.
void PutInOrder(std::vector<PathTree::Node>& tree, CallPaths& paths) {
  const std::vector<LabelId> new_ids = paths.labels.SortByName();
  for (PathTree::Node& node : tree) {
    if (node.label != exports::kNoLabel) node.label = new_ids[node.label];
  }
  // Sorts all nodes except the root by parent and label.
  RadixSort sort(static_cast<uint32_t>(tree.size() - 1));
  sort.SortBy([&](uint32_t i) { return tree[i + 1].label; });
  sort.SortBy([&](uint32_t i) { return tree[i + 1].parent; });
  HugeVector<uint32_t> order = sort.Order();
  for (uint32_t& node : order) ++node;
  // [parent]: index in `order` of its first child
  std::vector<uint32_t> first(tree.size() + 1);
  for (const uint32_t node : order) ++first[tree[node].parent + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());

  struct Open {
    uint32_t node = 0;
    uint32_t next = 0;  // index in `order` of the next child
  };
  std::vector<Open> open = {{0, first[0]}};
  std::vector<uint32_t> numbers(tree.size());
  paths.nodes.reserve(tree.size());
  paths.nodes.emplace_back();
  while (!open.empty()) {
    Open& at = open.back();
    if (at.next == first[at.node + 1]) {
      open.pop_back();
      continue;
    }
    const uint32_t child = order[at.next++];
    numbers[child] = static_cast<uint32_t>(paths.nodes.size());
    paths.nodes.push_back({static_cast<uint32_t>(open.size()), tree[child].label});
    open.push_back({child, first[child]});
  }
  for (PathRow& row : paths.rows) row.path = numbers[row.path];
}

}  // namespace

CallPaths FindCallPaths(std::span<const Side> sides) {
  CallPaths paths;
  PathTree tree;
  for (uint32_t i = 0; i < sides.size(); ++i) SideReader(sides[i], i, paths, tree).Read();
  PutInOrder(tree.nodes(), paths);
  SortAndMergeRows(paths.rows);
  return paths;
}

}  // namespace profiler::page

#include "src/views/flamegraph/flame_layout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/event_choice.h"
#include "src/views/flamegraph/frame_labels.h"
#include "src/views/flamegraph/xml_text.h"

namespace profiler::exports {
namespace {

using profile::Frame;
using profile::Profile;

// floor(value / total * kWhole) without overflow.
uint64_t PartOf(uint64_t value, uint64_t total) {
  if (total == 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(value) * kWhole / total);
}

// A rule for the nodes to draw: all nodes that weigh more than `least`, and the first `ties` nodes
// that weigh exactly `least`.
struct Cut {
  uint64_t least = 0;
  size_t ties = std::numeric_limits<size_t>::max();
};

// Returns the cut with which at most `max_boxes` nodes are drawn. A child weighs no more than its
// parent and comes after it, so the parent of a drawn box is also drawn.
Cut CutFor(const CallTree& tree, size_t max_boxes) {
  if (tree.nodes.size() <= max_boxes || max_boxes == 0) return {};
  std::vector<uint64_t> values;
  values.reserve(tree.nodes.size());
  for (const CallNode& node : tree.nodes) values.push_back(node.total.period);
  const auto last = values.begin() + static_cast<ptrdiff_t>(max_boxes);
  std::nth_element(values.begin(), last, values.end(), std::greater<>());
  const auto ties = static_cast<size_t>(std::count(values.begin(), last, *last));
  return {.least = *last, .ties = ties};
}

// Makes boxes of the nodes that weigh enough. Children are placed side by side from their parent's
// start. The remaining width of the parent stands for its own part and for undrawn children.
// Returns the node of each box.
std::vector<uint32_t> DrawBoxes(const CallTree& tree, Cut cut, FlameLayout& layout) {
  const uint64_t whole = tree.nodes[0].total.period;
  std::vector<uint32_t> drawn;
  std::vector<uint64_t> next_start(tree.nodes.size(), 0);  // start of each node's next child
  for (uint32_t id = 0; id < tree.nodes.size(); ++id) {
    const CallNode& node = tree.nodes[id];
    const bool ties = node.total.period == cut.least;
    if (id != 0 && (node.total.period < cut.least || (ties && cut.ties == 0))) {
      layout.pruned = true;
      continue;
    }
    if (ties) --cut.ties;
    const uint64_t start = id == 0 ? 0 : next_start[node.parent];
    next_start[id] = start;
    if (id != 0) next_start[node.parent] += node.total.period;
    const uint64_t begin = PartOf(start, whole);
    const uint64_t end = PartOf(start + node.total.period, whole);
    layout.boxes.push_back({.label = node.label,
                            .level = node.depth,
                            .start = begin,
                            .width = end - begin,
                            .self = PartOf(node.self, whole),
                            .samples = node.total.count});
    drawn.push_back(id);
    layout.levels = std::max(layout.levels, node.depth + 1);
  }
  return drawn;
}

// Sets the baseline values of each box from the tree `before`, which has the same labels. drawn[i]
// is the node of box i.
void CompareBoxes(const CallTree& tree, const std::vector<uint32_t>& drawn, const CallTree& before,
                  FlameLayout& layout) {
  absl::flat_hash_map<std::pair<uint32_t, LabelId>, uint32_t> children;
  for (uint32_t id = 1; id < before.nodes.size(); ++id) {
    children[{before.nodes[id].parent, before.nodes[id].label}] = id;
  }
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> counterparts(tree.nodes.size(), kNone);
  const uint64_t whole = before.nodes[0].total.period;
  uint64_t met = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const CallNode& node = tree.nodes[drawn[i]];
    uint32_t& counterpart = counterparts[drawn[i]];
    FlameBox& box = layout.boxes[i];
    if (drawn[i] == 0) {
      counterpart = 0;
    } else if (counterparts[node.parent] != kNone) {
      const auto found = children.find({counterparts[node.parent], node.label});
      if (found != children.end()) counterpart = found->second;
    }
    if (counterpart != kNone) {
      box.width_before = PartOf(before.nodes[counterpart].total.period, whole);
      box.self_before = PartOf(before.nodes[counterpart].self, whole);
      met += before.nodes[counterpart].self;
    }
    const uint64_t change =
        std::max(box.self, box.self_before) - std::min(box.self, box.self_before);
    layout.most_change = std::max(layout.most_change, change);
  }
  layout.gone = PartOf(whole - met, whole);
}

uint64_t UnnamedPeriod(const Profile& profile, profile::EventId event, WeightBy weight) {
  uint64_t unnamed = 0;
  for (const profile::Row& row : profile.rows) {
    if (row.event != event) continue;
    const Frame& leaf = profile[profile[row.stack].frame];
    if (leaf.unnamed != profile::Unnamed::kNamed) unnamed += WeightOf(row, weight).period;
  }
  return unnamed;
}

// The rows of an event, grouped by process name, and the labels of their frames.
struct NamedRows {
  std::vector<ProcessRows> processes;
  FrameLabels frames;

  void Renumber(std::span<const LabelId> new_ids) {
    frames.Renumber(new_ids);
    for (ProcessRows& process : processes) {
      process.label = new_ids[process.label];
      process.frames = &frames;
    }
  }
};

NamedRows NameRows(const Profile& profile, std::optional<profile::EventId> event,
                   LabelTable& labels) {
  NamedRows named;
  if (!event) return named;
  named.processes = RowsByProcess(profile, *event, [&](std::string_view comm) {
    return labels.Intern({CleanUtf8(comm), {}, CodeKind::kProcess});
  });
  named.frames = LabelFrames(profile, labels);
  return named;
}

// Returns the event of that name, or else the first that has samples.
std::optional<profile::EventId> EventOfBefore(const Profile& before, std::string_view name) {
  const auto same = analysis::ChooseEvent(before, name);
  return same.ok() ? *same : analysis::FirstEventWithSamples(before);
}

}  // namespace

FlameLayout LayOutFlames(const Profile& profile, const FlameGraphOptions& options,
                         uint32_t pixels) {
  FlameLayout layout;
  const auto event = options.event ? options.event : analysis::FirstEventWithSamples(profile);
  if (!event.has_value()) {
    layout.boxes.emplace_back();
    return layout;
  }
  layout.event = CleanUtf8(profile.text(profile[*event].name));
  NamedRows now = NameRows(profile, *event, layout.labels);
  NamedRows then;
  if (options.before != nullptr) {
    then = NameRows(*options.before, EventOfBefore(*options.before, layout.event), layout.labels);
  }
  const auto new_ids = layout.labels.SortByName();
  now.Renumber(new_ids);
  then.Renumber(new_ids);
  for (const ProcessRows& process : now.processes) {
    for (uint32_t row : process.rows) layout.total += WeightOf(profile.rows[row], options.weight);
  }
  const auto whole = static_cast<double>(layout.total.period);
  const double min_part = std::clamp(
      std::max(options.min_percent / 100, options.min_pixels / std::max(pixels, 1U)), 0.0, 1.0);
  const CallTree tree =
      BuildCallTree(profile, std::move(now.processes),
                    {.weight = options.weight,
                     .min_period = static_cast<uint64_t>(std::ceil(min_part * whole)),
                     .reverse = options.reverse});
  const Cut cut = CutFor(tree, options.max_boxes);
  layout.pruned = tree.dropped != 0;
  const std::vector<uint32_t> drawn = DrawBoxes(tree, cut, layout);
  if (options.before != nullptr) {
    const CallTree before = BuildCallTree(*options.before, std::move(then.processes),
                                          {.weight = options.weight, .reverse = options.reverse});
    CompareBoxes(tree, drawn, before, layout);
  }
  const double cut_part =
      whole == 0 || cut.least == 0 ? 0 : static_cast<double>(cut.least + 1) / whole;
  layout.some_narrow = cut_part > min_part;
  layout.min_width = whole == 0 ? 0 : std::max(min_part, cut_part);
  layout.unnamed = UnnamedPeriod(profile, *event, options.weight);
  return layout;
}

}  // namespace profiler::exports

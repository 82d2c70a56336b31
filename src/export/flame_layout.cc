#include "src/export/flame_layout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/export/xml_text.h"
#include "src/query/event_choice.h"

namespace profiler::exports {
namespace {

using profile::Dso;
using profile::Frame;
using profile::Line;
using profile::Profile;

// Finds the labels of frames; each (symbol, kind) and each (image, kind) only once.
class Namer {
 public:
  Namer(const Profile& profile, LabelTable& table)
      : profile_(profile),
        table_(table),
        of_symbol_(profile.symbols.size() * kCodeKinds, kNoLabel),
        of_dso_(profile.dsos.size() * kCodeKinds, kNoLabel) {}

  FrameLabels LabelFrames() {
    FrameLabels labels;
    for (const Frame& frame : profile_.frames) {
      const auto lines = profile_.LinesOf(frame);
      for (size_t i = lines.size(); i-- > 0;) labels.Append(OfLine(frame, lines[i]));
      if (lines.empty()) labels.Append(OfUnnamed(frame));
      labels.EndFrame();
    }
    return labels;
  }

 private:
  LabelId OfLine(const Frame& frame, const Line& line) {
    if (line.symbol == profile::kNoSymbol) return OfUnnamed(frame);
    const profile::Symbol& symbol = profile_[line.symbol];
    const Dso& dso = profile_[symbol.dso];
    const CodeKind kind = frame.unnamed != profile::Unnamed::kNamed ? CodeKind::kUnnamed
                          : line.inlined                            ? CodeKind::kInlined
                                                                    : KindOf(dso, frame.mode);
    LabelId& label =
        of_symbol_[static_cast<uint32_t>(line.symbol) * kCodeKinds + static_cast<uint32_t>(kind)];
    if (label == kNoLabel) {
      label = table_.Intern(
          {CleanUtf8(profile_.text(symbol.name)), CleanUtf8(profile_.text(dso.name)), kind});
    }
    return label;
  }

  LabelId OfUnnamed(const Frame& frame) {
    LabelId& label = of_dso_[static_cast<uint32_t>(frame.dso)];
    if (label == kNoLabel) {
      const std::string name = CleanUtf8(profile_.text(profile_[frame.dso].name));
      const bool bracketed = name.starts_with('[');
      label = table_.Intern(
          {bracketed ? name : absl::StrCat("[", name, "]"), name, CodeKind::kUnnamed});
    }
    return label;
  }

  const Profile& profile_;
  LabelTable& table_;
  std::vector<LabelId> of_symbol_;
  std::vector<LabelId> of_dso_;
};

// floor(value / total * kWhole) without overflow.
uint64_t PartOf(uint64_t value, uint64_t total) {
  if (total == 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(value) * kWhole / total);
}

// The least total of a node that is drawn, so that at most `max_boxes` are. A child weighs at most
// what its parent does, so whatever is drawn stands on something drawn.
uint64_t LeastValue(const CallTree& tree, size_t max_boxes) {
  if (tree.nodes.size() <= max_boxes || max_boxes == 0) return 0;
  std::vector<uint64_t> values;
  values.reserve(tree.nodes.size());
  for (const CallNode& node : tree.nodes) values.push_back(node.total.period);
  const auto last = values.begin() + static_cast<ptrdiff_t>(max_boxes);
  std::nth_element(values.begin(), last, values.end(), std::greater<>());
  return *last + 1;  // ties are left out together: which of them were drawn would be chance
}

// Fills boxes from the nodes that weigh enough. Children stand side by side from their parent's
// start on; what is left at its end is the parent's own, and what is not drawn.
void DrawBoxes(const CallTree& tree, uint64_t least, FlameLayout& layout) {
  const uint64_t whole = tree.nodes[0].total.period;
  std::vector<uint64_t> next_start(tree.nodes.size(), 0);  // where a node's next child starts
  for (uint32_t id = 0; id < tree.nodes.size(); ++id) {
    const CallNode& node = tree.nodes[id];
    if (id != 0 && node.total.period < least) {
      layout.pruned = true;
      continue;
    }
    const uint64_t start = id == 0 ? 0 : next_start[node.parent];
    next_start[id] = start;
    if (id != 0) next_start[node.parent] += node.total.period;
    const uint64_t begin = PartOf(start, whole);
    const uint64_t end = PartOf(start + node.total.period, whole);
    layout.boxes.push_back(
        {node.label, node.depth, begin, end - begin, PartOf(node.self, whole), node.total.count});
    layout.levels = std::max(layout.levels, node.depth + 1);
  }
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

}  // namespace

FlameLayout LayOutFlames(const Profile& profile, const FlameGraphOptions& options,
                         uint32_t pixels) {
  FlameLayout layout;
  const auto event = options.event ? options.event : query::FirstEventWithSamples(profile);
  if (!event.has_value()) {
    layout.boxes.emplace_back();
    return layout;
  }
  layout.event = CleanUtf8(profile.text(profile[*event].name));
  auto processes = RowsByProcess(profile, *event, [&](std::string_view comm) {
    return layout.labels.Intern({CleanUtf8(comm), {}, CodeKind::kProcess});
  });
  FrameLabels frames = Namer(profile, layout.labels).LabelFrames();
  const auto new_ids = layout.labels.SortByName();
  frames.Renumber(new_ids);
  for (ProcessRows& process : processes) process.label = new_ids[process.label];
  for (ProcessRows& process : processes) {
    process.frames = &frames;
    for (uint32_t row : process.rows) layout.total += WeightOf(profile.rows[row], options.weight);
  }
  const auto whole = static_cast<double>(layout.total.period);
  const double min_part = std::clamp(
      std::max(options.min_percent / 100, options.min_pixels / std::max(pixels, 1U)), 0.0, 1.0);
  CallTree tree = BuildCallTree(profile, std::move(processes),
                                {.weight = options.weight,
                                 .min_period = static_cast<uint64_t>(std::ceil(min_part * whole)),
                                 .reverse = options.reverse});
  const uint64_t least = LeastValue(tree, options.max_boxes);
  layout.pruned = tree.dropped != 0;
  DrawBoxes(tree, least, layout);
  layout.min_width = whole == 0 ? 0 : std::max(min_part, static_cast<double>(least) / whole);
  layout.unnamed = UnnamedPeriod(profile, *event, options.weight);
  return layout;
}

}  // namespace profiler::exports

#include "src/views/flamegraph/folded.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

#include "src/analysis/event_choice.h"
#include "src/views/flamegraph/function_names.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {
namespace {

using profile::Frame;
using profile::Profile;
using profile::SymbolId;

constexpr size_t kPiece = size_t{1} << 20;

// A namer of frames. It computes the labels of each symbol and of each image only once.
class Namer {
 public:
  Namer(const Profile& profile, NameStyle style, bool java, LabelTable& table)
      : profile_(profile),
        style_(style),
        java_(java),
        table_(table),
        of_symbol_(profile.symbols.size()),
        of_image_(profile.images.size(), kNoLabel) {}

  FrameLabels LabelFrames() {
    FrameLabels labels;
    for (const Frame& frame : profile_.frames) {
      const auto lines = profile_.LinesOf(frame);
      for (size_t i = lines.size(); i-- > 0;) {
        if (lines[i].symbol == profile::kNoSymbol) {
          labels.Append(OfUnnamed(frame));
        } else {
          for (LabelId label : OfSymbol(lines[i].symbol)) labels.Append(label);
        }
      }
      if (lines.empty()) labels.Append(OfUnnamed(frame));
      labels.EndFrame();
    }
    return labels;
  }

 private:
  struct SymbolLabels {
    bool known = false;
    std::vector<LabelId> labels;
  };

  const std::vector<LabelId>& OfSymbol(SymbolId id) {
    SymbolLabels& symbol = of_symbol_[static_cast<uint32_t>(id)];
    if (symbol.known) return symbol.labels;
    symbol.known = true;
    const std::string_view name = profile_.text(profile_[id].name);
    if (style_ == NameStyle::kFull) {
      symbol.labels = {table_.Intern({FoldedName(name), {}, CodeKind::kUser})};
      return symbol.labels;
    }
    for (std::string& part : StackcollapseNames(name, java_)) {
      symbol.labels.push_back(table_.Intern({std::move(part), {}, CodeKind::kUser}));
    }
    return symbol.labels;
  }

  LabelId OfUnnamed(const Frame& frame) {
    LabelId& label = of_image_[static_cast<uint32_t>(frame.image)];
    if (label == kNoLabel) {
      const std::string name = UnnamedIn(ImageName(profile_, profile_[frame.image]));
      label = table_.Intern({FoldedName(name), {}, CodeKind::kUser});
    }
    return label;
  }

  const Profile& profile_;
  const NameStyle style_;
  const bool java_;
  LabelTable& table_;
  std::vector<SymbolLabels> of_symbol_;
  std::vector<LabelId> of_image_;
};

// A writer of a tree's lines in byte order. This order differs from the tree's order if a name is a
// prefix of another one. An example, with '-' < ';':
//
//     a 1        a's own line:  "a" ends here
//     a-b 1      another child
//     a;c 1      below a:       "a" is followed by ';'
//
// So each child has two turns among its siblings: one for its own line, one for the lines below it.
class LineWriter {
 public:
  LineWriter(const CallTree& tree, const LabelTable& labels,
             absl::FunctionRef<void(std::string_view)> write)
      : tree_(tree), labels_(labels), write_(write) {
    RankTurns();
    LinkChildren();
  }

  void WriteAll() {
    PushTurns(0);
    while (!pending_.empty()) {
      const Turn turn = pending_.back();
      pending_.pop_back();
      path_.resize(path_ends_[tree_.nodes[turn.node].depth - 1]);
      if (!path_.empty()) path_ += ';';
      path_ += labels_[tree_.nodes[turn.node].label].name;
      if (turn.below) {
        path_ends_.resize(tree_.nodes[turn.node].depth);
        path_ends_.push_back(path_.size());
        PushTurns(turn.node);
      } else {
        WriteLine(tree_.nodes[turn.node].self);
      }
    }
    if (!out_.empty()) write_(out_);
  }

 private:
  struct Turn {
    uint32_t rank = 0;
    uint32_t node = 0;
    bool below = false;
  };

  // For each label, sets rank_[2 * label] for the label's own line, and rank_[2 * label + 1] for
  // the lines of its callees.
  void RankTurns() {
    std::vector<uint32_t> order(labels_.size() * 2);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return Before(a, b); });
    rank_.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
  }

  bool Before(uint32_t a, uint32_t b) const {
    const std::string& x = labels_[a / 2].name;
    const std::string& y = labels_[b / 2].name;
    const size_t common = std::min(x.size(), y.size());
    if (const int order = x.compare(0, common, y, 0, common); order != 0) return order < 0;
    return ByteAt(x, common, a % 2 != 0) < ByteAt(y, common, b % 2 != 0);
  }

  static int ByteAt(const std::string& name, size_t at, bool below) {
    if (at < name.size()) return static_cast<unsigned char>(name[at]);
    return below ? ';' : -1;
  }

  void LinkChildren() {
    first_child_.resize(tree_.nodes.size(), 0);
    next_sibling_.resize(tree_.nodes.size(), 0);
    for (auto node = static_cast<uint32_t>(tree_.nodes.size()); node-- > 1;) {
      next_sibling_[node] = std::exchange(first_child_[tree_.nodes[node].parent], node);
    }
  }

  void PushTurns(uint32_t parent) {
    const size_t first = pending_.size();
    for (uint32_t node = first_child_[parent]; node != 0; node = next_sibling_[node]) {
      const LabelId label = tree_.nodes[node].label;
      if (tree_.nodes[node].self != 0) pending_.push_back({rank_[size_t{2} * label], node, false});
      if (first_child_[node] != 0) pending_.push_back({rank_[size_t{2} * label + 1], node, true});
    }
    std::sort(pending_.begin() + static_cast<ptrdiff_t>(first), pending_.end(),
              [](const Turn& a, const Turn& b) { return a.rank > b.rank; });
  }

  void WriteLine(uint64_t value) {
    char number[24];
    const auto end = std::to_chars(number, number + sizeof number, value).ptr;
    out_ += path_;
    out_ += ' ';
    out_.append(number, end);
    out_ += '\n';
    if (out_.size() < kPiece) return;
    write_(out_);
    out_.clear();
  }

  const CallTree& tree_;
  const LabelTable& labels_;
  absl::FunctionRef<void(std::string_view)> write_;
  std::vector<uint32_t> rank_;
  // Indexed by node. 0 means none, because node 0, the root, is neither a child nor a sibling.
  std::vector<uint32_t> first_child_, next_sibling_;
  std::vector<Turn> pending_;  // a stack: the next turn is its last element
  std::string path_;
  std::vector<size_t> path_ends_ = {0};  // [d]: size of path_ up to depth d
  std::string out_;
};

}  // namespace

void WriteFolded(const Profile& profile, const FoldedOptions& options,
                 absl::FunctionRef<void(std::string_view)> write) {
  const auto event = options.event ? options.event : analysis::FirstEventWithSamples(profile);
  if (!event.has_value()) return;
  const bool stackcollapse = options.names == NameStyle::kStackcollapse;
  LabelTable table;
  auto processes = RowsByProcess(profile, *event, [&](std::string_view comm) {
    return table.Intern(
        {stackcollapse ? StackcollapseProcess(comm) : FoldedName(comm), {}, CodeKind::kProcess});
  });
  const auto is_java = [&](const ProcessRows& process) {
    return stackcollapse && table[process.label].name.starts_with("java");
  };
  // In Java processes names are shortened further, so equal frames have different labels there.
  FrameLabels plain = Namer(profile, options.names, false, table).LabelFrames();
  FrameLabels java;
  if (std::any_of(processes.begin(), processes.end(), is_java)) {
    java = Namer(profile, options.names, true, table).LabelFrames();
  }
  for (ProcessRows& process : processes) process.frames = is_java(process) ? &java : &plain;
  const auto new_ids = table.SortByName();
  plain.Renumber(new_ids);
  java.Renumber(new_ids);
  for (ProcessRows& process : processes) process.label = new_ids[process.label];
  const CallTree tree = BuildCallTree(profile, std::move(processes), {.weight = options.weight});
  LineWriter(tree, table, write).WriteAll();
}

std::string Folded(const Profile& profile, const FoldedOptions& options) {
  std::string out;
  WriteFolded(profile, options, [&](std::string_view lines) { out += lines; });
  return out;
}

}  // namespace profiler::exports

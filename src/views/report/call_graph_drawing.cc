// Draws a call graph as text. A tree:
//
//               |                       margin of 12, then 11 per level
//               ---main                 a single chain: no percentage, because it is the row's
//                  |
//                  |--42.00%--parse     a branch that is not the last keeps its line
//                  |          read      … and a run of functions without a branch
//                  |
//                   --40.00%--write     the last branch
//                             |
//                              --39.00%--flush

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/padded_text.h"
#include "src/views/report/call_graph.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {
namespace {

constexpr size_t kMargin = 12;
constexpr std::string_view kBesideBranch = "|          ";
constexpr std::string_view kBelowBranch = "           ";

class Drawing {
 public:
  Drawing(const Histogram& hist, const CallGraphOptions& options, const ChainDrawing& drawing,
          const ChainTree& tree, std::string& out, absl::FunctionRef<void()> flush)
      : hist_(hist), options_(options), drawing_(drawing), tree_(tree), out_(out), flush_(flush) {}

  void Draw() {
    switch (options_.type) {
      case CallGraphType::kGraph:
      case CallGraphType::kFractal:
        return DrawTree();
      case CallGraphType::kFlat:
      case CallGraphType::kFolded:
        return DrawLists();
      case CallGraphType::kNone:
        return;
    }
  }

 private:
  // The branches of a node while they are drawn.
  struct Branches {
    const ChainNode* node;
    uint64_t whole;   // 100 % of the branches
    size_t margin;    // length of the branches' common indent
    size_t next = 0;  // index of the node's next child to draw
    uint64_t remaining = whole;
    uint64_t shown_count = 0;
  };

  bool fractal() const { return options_.type == CallGraphType::kFractal; }

  void DrawTree() {
    const ChainNode* top = tree_.data();
    if (top->children.empty()) return;
    std::string indent(kMargin, ' ');
    if (const ChainNode& only = tree_[top->children[0]];
        top->children.size() == 1 && only.total.period == drawing_.row_period) {
      top = &only;
      DrawTrunk(*top, indent);
    }
    DrawBranches(*top, fractal() ? drawing_.row_period : drawing_.total_period, indent);
    if (has_drawn_) EndLine();
  }

  void EndLine() {
    out_ += '\n';
    has_drawn_ = true;
    flush_();
  }

  // Draws a single chain, whose percentage is that of the row.
  void DrawTrunk(const ChainNode& trunk, std::string& indent) {
    bool first = true;
    size_t printed = 0;
    for (size_t i = drawing_.skip_first_entry ? 1 : 0; i < trunk.path.size(); ++i) {
      out_ += indent;
      if (first) {
        out_ += "|";
        EndLine();
        out_ += indent;
        out_ += "---";
        indent += "   ";
        first = false;
      }
      DrawName(trunk.path[i]);
      EndLine();
      if (++printed == options_.print_limit) break;
    }
  }

  // Draws each branch, and everything below it before the next one.
  void DrawBranches(const ChainNode& top, uint64_t whole, std::string& indent) {
    std::vector<Branches> path = {{.node = &top, .whole = whole, .margin = indent.size()}};
    while (!path.empty()) {
      Branches& at = path.back();
      indent.resize(at.margin);
      const std::vector<size_t>& children = at.node->children;
      const bool all = at.next == children.size() ||
                       (options_.print_limit != 0 && at.next == options_.print_limit);
      if (all) {
        DrawRemaining(at, indent);
        path.pop_back();
        continue;
      }
      const ChainNode& child = tree_[children[at.next++]];
      at.remaining -= child.total.period;
      at.shown_count += child.total.count;
      const bool last = at.next == children.size() && (!fractal() || at.remaining == 0);
      out_ += indent;
      out_ += kBesideBranch;
      EndLine();
      DrawRun(child, last, at.whole, indent);
      indent += last ? kBelowBranch : kBesideBranch;
      path.push_back({.node = &child,
                      .whole = fractal() ? child.below.period : at.whole,
                      .margin = indent.size()});
    }
  }

  void DrawRun(const ChainNode& node, bool last, uint64_t whole, const std::string& indent) {
    for (size_t i = 0; i < node.path.size(); ++i) {
      out_ += indent;
      if (i == 0) {
        out_ += last ? " --" : "|--";
        DrawValue(node.total, whole);
        out_ += "--";
      } else {
        out_ += last ? kBelowBranch : kBesideBranch;
      }
      DrawName(node.path[i]);
      EndLine();
    }
  }

  // Draws the part of the branch's 100 % that no drawn child has. Only fractal graphs show it.
  void DrawRemaining(const Branches& at, const std::string& indent) {
    if (!fractal() || at.remaining == 0 || at.remaining == at.whole) return;
    const uint64_t below = at.node->below.count;
    const uint64_t count = below > at.shown_count ? below - at.shown_count : uint64_t{0};
    if (options_.value == ChainValue::kCount && count == 0) return;
    out_ += indent;
    out_ += " --";
    DrawValue({.period = at.remaining, .count = count}, at.whole);
    out_ += "--[...]";
    EndLine();
  }

  // Draws a flat or folded graph: each node where chains end, the heaviest first.
  void DrawLists() {
    std::vector<const ChainNode*> ends = Ends();
    std::stable_sort(ends.begin(), ends.end(), [](const ChainNode* a, const ChainNode* b) {
      return a->own().period > b->own().period;
    });
    if (options_.print_limit != 0 && ends.size() > options_.print_limit) {
      ends.resize(options_.print_limit);
    }
    for (const ChainNode* end : ends) {
      if (options_.type == CallGraphType::kFlat) {
        DrawFlat(*end);
      } else {
        DrawFolded(*end);
      }
    }
  }

  // Returns the nodes in which chains of enough weight end. Each node comes after all nodes below
  // it.
  std::vector<const ChainNode*> Ends() const {
    struct Visit {
      const ChainNode* node;
      size_t next = 0;  // index of the node's next child to visit
    };
    std::vector<const ChainNode*> ends;
    std::vector<Visit> path = {{tree_.data()}};
    while (!path.empty()) {
      Visit& at = path.back();
      if (at.next < at.node->children.size()) {
        path.push_back({&tree_[at.node->children[at.next++]]});
        continue;
      }
      const uint64_t period = at.node->own().period;
      const bool is_root = path.size() == 1;
      if (!is_root && period != 0 && static_cast<double>(period) >= MinPeriod()) {
        ends.push_back(at.node);
      }
      path.pop_back();
    }
    return ends;
  }

  // Returns the nodes from below the root to `end`.
  std::vector<const ChainNode*> PathTo(const ChainNode& end) const {
    std::vector<const ChainNode*> path;
    for (const ChainNode* node = &end; node != tree_.data(); node = &tree_[node->parent]) {
      path.push_back(node);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  double MinPeriod() const {
    return static_cast<double>(static_cast<uint64_t>(static_cast<double>(drawing_.total_period) *
                                                     (*options_.threshold / 100)));
  }

  void DrawFlat(const ChainNode& end) {
    out_.append(11, ' ');
    DrawValue(end.total, drawing_.total_period);
    EndLine();
    for (const ChainNode* node : PathTo(end)) {
      for (const FunctionId function : node->path) {
        out_.append(16, ' ');
        DrawName(function);
        EndLine();
      }
    }
    EndLine();
  }

  void DrawFolded(const ChainNode& end) {
    DrawValue(end.own(), drawing_.total_period);
    char separator = ' ';
    for (const ChainNode* node : PathTo(end)) {
      for (const FunctionId function : node->path) {
        out_ += separator;
        separator = ';';
        DrawName(function);
      }
    }
    EndLine();
  }

  void DrawValue(const Weight& weight, uint64_t whole) {
    switch (options_.value) {
      case ChainValue::kPercent:
        return AppendPercent(weight.period, whole, 0, out_);
      case ChainValue::kPeriod:
        return AppendNumber(weight.period, 0, out_);
      case ChainValue::kCount:
        return AppendNumber(weight.count, 0, out_);
    }
  }

  void DrawName(FunctionId function) {
    AppendFunctionName(hist_.profile(), hist_.functions()[function], out_);
  }

  const Histogram& hist_;
  const CallGraphOptions& options_;
  const ChainDrawing& drawing_;
  const ChainTree& tree_;
  std::string& out_;
  absl::FunctionRef<void()> flush_;
  bool has_drawn_ = false;
};

}  // namespace

void DrawCallGraph(const Histogram& hist, const CallGraphOptions& options,
                   const ChainDrawing& drawing, const ChainTree& tree, std::string& out,
                   absl::FunctionRef<void()> flush) {
  Drawing(hist, options, drawing, tree, out, flush).Draw();
}

}  // namespace profiler::report

// The call graph as text. A tree:
//
//               |                       margin of 12, then 11 a level
//               ---main                 the only chain there is: no percentage, it is the row's
//                  |
//                  |--42.00%--parse     a branch that is not the last keeps its line
//                  |          read      … and a run of functions without a branch
//                  |
//                   --40.00%--write     the last one
//                             |
//                              --39.00%--flush

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/call_graph.h"
#include "src/report/text.h"

namespace profiler::report {
namespace {

constexpr size_t kMargin = 12;
constexpr std::string_view kBesideBranch = "|          ";
constexpr std::string_view kBelowBranch = "           ";

class Drawing {
 public:
  Drawing(const Histogram& hist, const CallGraphOptions& options, const ChainDrawing& drawing,
          std::string& out)
      : hist_(hist), options_(options), drawing_(drawing), out_(out) {}

  void Draw(const ChainNode& root) {
    switch (options_.type) {
      case CallGraphType::kGraph:
      case CallGraphType::kFractal:
        return DrawTree(root);
      case CallGraphType::kFlat:
      case CallGraphType::kFolded:
        return DrawLists(root);
      case CallGraphType::kNone:
        return;
    }
  }

 private:
  bool fractal() const { return options_.type == CallGraphType::kFractal; }

  void DrawTree(const ChainNode& root) {
    const size_t before = out_.size();
    std::string indent(kMargin, ' ');
    const ChainNode* top = &root;
    if (root.children.size() == 1 && root.children[0].total.period == drawing_.row_period) {
      top = &root.children[0];
      DrawTrunk(*top, indent);
    }
    DrawBranches(*top, fractal() ? drawing_.row_period : drawing_.total_period, indent);
    if (out_.size() != before) out_ += '\n';
  }

  // A single chain: its percentage is that of the row.
  void DrawTrunk(const ChainNode& trunk, std::string& indent) {
    bool first = true;
    size_t printed = 0;
    for (size_t i = drawing_.skip_first_entry ? 1 : 0; i < trunk.path.size(); ++i) {
      out_ += indent;
      if (first) {
        out_ += "|\n";
        out_ += indent;
        out_ += "---";
        indent += "   ";
        first = false;
      }
      DrawName(trunk.path[i]);
      out_ += '\n';
      if (++printed == options_.print_limit) break;
    }
  }

  void DrawBranches(const ChainNode& node, uint64_t whole, std::string& indent) {
    const size_t level = indent.size();
    uint64_t remaining = whole;
    uint64_t shown_count = 0;
    size_t printed = 0;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const ChainNode& child = node.children[i];
      remaining -= child.total.period;
      shown_count += child.total.count;
      const bool last = i + 1 == node.children.size() && (!fractal() || remaining == 0);

      out_ += indent;
      out_ += kBesideBranch;
      out_ += '\n';
      DrawRun(child, last, whole, indent);
      indent += last ? kBelowBranch : kBesideBranch;
      DrawBranches(child, fractal() ? child.below.period : whole, indent);
      indent.resize(level);
      if (++printed == options_.print_limit) break;
    }
    if (!fractal() || remaining == 0 || remaining == whole) return;
    DrawRemaining(node, remaining, shown_count, whole, indent);
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
      out_ += '\n';
    }
  }

  // Fractal: what is left of the branch's 100 %.
  void DrawRemaining(const ChainNode& node, uint64_t remaining, uint64_t shown_count,
                     uint64_t whole, const std::string& indent) {
    const uint64_t count =
        node.below.count > shown_count ? node.below.count - shown_count : uint64_t{0};
    if (options_.value == ChainValue::kCount && count == 0) return;
    out_ += indent;
    out_ += " --";
    DrawValue({.period = remaining, .count = count}, whole);
    out_ += "--[...]\n";
  }

  // Flat and folded: each place where chains end, heaviest first.
  void DrawLists(const ChainNode& root) {
    std::vector<std::vector<const ChainNode*>> chains;
    std::vector<const ChainNode*> path;
    CollectEnds(root, path, chains);
    std::stable_sort(chains.begin(), chains.end(), [](const auto& a, const auto& b) {
      return a.back()->own().period > b.back()->own().period;
    });
    if (options_.print_limit != 0 && chains.size() > options_.print_limit) {
      chains.resize(options_.print_limit);
    }
    for (const std::vector<const ChainNode*>& chain : chains) {
      if (options_.type == CallGraphType::kFlat) {
        DrawFlat(chain);
      } else {
        DrawFolded(chain);
      }
    }
  }

  void CollectEnds(const ChainNode& node, std::vector<const ChainNode*>& path,
                   std::vector<std::vector<const ChainNode*>>& chains) {
    for (const ChainNode& child : node.children) {
      path.push_back(&child);
      CollectEnds(child, path, chains);
      const uint64_t period = child.own().period;
      if (period != 0 && static_cast<double>(period) >= MinPeriod()) chains.push_back(path);
      path.pop_back();
    }
  }

  double MinPeriod() const {
    return static_cast<double>(static_cast<uint64_t>(static_cast<double>(drawing_.total_period) *
                                                     (*options_.threshold / 100)));
  }

  void DrawFlat(const std::vector<const ChainNode*>& chain) {
    out_.append(11, ' ');
    DrawValue(chain.back()->total, drawing_.total_period);
    out_ += '\n';
    for (const ChainNode* node : chain) {
      for (const FunctionId function : node->path) {
        out_.append(16, ' ');
        DrawName(function);
        out_ += '\n';
      }
    }
    out_ += '\n';
  }

  void DrawFolded(const std::vector<const ChainNode*>& chain) {
    DrawValue(chain.back()->own(), drawing_.total_period);
    char separator = ' ';
    for (const ChainNode* node : chain) {
      for (const FunctionId function : node->path) {
        out_ += separator;
        separator = ';';
        DrawName(function);
      }
    }
    out_ += '\n';
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
  std::string& out_;
};

}  // namespace

void DrawCallGraph(const Histogram& hist, const CallGraphOptions& options,
                   const ChainDrawing& drawing, const ChainNode& root, std::string& out) {
  Drawing(hist, options, drawing, out).Draw(root);
}

}  // namespace profiler::report

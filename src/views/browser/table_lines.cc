#include "src/views/browser/table_lines.h"

#include <algorithm>

namespace profiler::browser {

using report::BrowsedNode;

size_t TableLines::size() const {
  if (unfolded_.empty()) return table_.rows();
  const auto [line, row] = unfolded_.back();
  return line + graphs_.at(row).lines.size() + table_.rows() - row;
}

TableLines::Line TableLines::At(size_t line) const {
  const auto after =
      std::upper_bound(unfolded_.begin(), unfolded_.end(), line,
                       [](size_t wanted, const auto& unfolded) { return wanted < unfolded.first; });
  if (after == unfolded_.begin()) return {.row = line};
  const auto [first, row] = *(after - 1);
  if (line == first) return {.row = row};
  const std::vector<Line>& below = graphs_.at(row).lines;
  if (line - first <= below.size()) return below[line - first - 1];
  return {.row = row + line - first - below.size()};
}

size_t TableLines::LineOf(size_t row) const {
  if (row >= table_.rows()) return size();
  const auto after = std::upper_bound(
      unfolded_.begin(), unfolded_.end(), row,
      [](size_t wanted, const auto& unfolded) { return wanted < unfolded.second; });
  if (after == unfolded_.begin()) return row;
  const auto [line, unfolded] = *(after - 1);
  return unfolded == row ? line : line + graphs_.at(unfolded).lines.size() + row - unfolded;
}

char TableLines::MarkOf(const Line& line) const {
  const auto graph = graphs_.find(line.row);
  if (line.node == 0) {
    if (graph != graphs_.end()) return '-';
    return table_.MayUnfold(line.row) ? '+' : ' ';
  }
  if (line.entry != 0 || !MayUnfold(NodeOf(line))) return ' ';
  return graph->second.is_open[line.node] ? '-' : '+';
}

const BrowsedNode& TableLines::NodeOf(const Line& line) const {
  return graphs_.at(line.row).nodes[line.node];
}

TableLines::Graph& TableLines::GraphOf(size_t row) {
  const auto [found, is_new] = graphs_.try_emplace(row);
  if (is_new) {
    found->second.nodes = table_.Unfold(row);
    found->second.is_open.resize(found->second.nodes.size());
  }
  return found->second;
}

void TableLines::Open(Graph& graph, size_t node) {
  graph.is_open[node] = true;
  while (graph.nodes[node].children.size() == 1) {
    node = graph.nodes[node].children.front();
    graph.is_open[node] = true;
  }
}

void TableLines::LayOut(size_t row, Graph& graph) {
  graph.lines.clear();
  std::vector<Line> waiting;  // nodes to show, the next one last
  const auto add_children = [&](size_t node, size_t depth) {
    const std::vector<size_t>& children = graph.nodes[node].children;
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      waiting.push_back({.row = row, .node = *child, .depth = depth});
    }
  };
  add_children(0, 0);
  while (!waiting.empty()) {
    Line line = waiting.back();
    waiting.pop_back();
    graph.lines.push_back(line);
    if (!graph.is_open[line.node]) continue;
    for (line.entry = 1; line.entry < graph.nodes[line.node].functions.size(); ++line.entry) {
      graph.lines.push_back(line);
    }
    add_children(line.node, line.depth + 1);
  }
}

bool TableLines::Toggle(const Line& line) {
  const char mark = MarkOf(line);
  if (mark == ' ') return false;
  if (mark == '-') return Fold(line), true;
  Graph& graph = GraphOf(line.row);
  Open(graph, line.node);
  LayOut(line.row, graph);
  Count();
  return true;
}

TableLines::Line TableLines::Fold(const Line& line) {
  const auto graph = graphs_.find(line.row);
  if (graph == graphs_.end()) return line;
  Line folded = {.row = line.row};
  if (line.node != 0 && graph->second.is_open[line.node]) {
    folded = line;
    folded.entry = 0;
  } else if (line.node != 0) {
    for (size_t i = 1; i < graph->second.nodes.size(); ++i) {
      const std::vector<size_t>& children = graph->second.nodes[i].children;
      if (std::find(children.begin(), children.end(), line.node) == children.end()) continue;
      folded = {.row = line.row, .node = i, .depth = line.depth - 1};
    }
  }
  if (folded.node == 0) {
    graphs_.erase(graph);
  } else {
    graph->second.is_open[folded.node] = false;
    LayOut(line.row, graph->second);
  }
  Count();
  return folded;
}

void TableLines::ToggleWhole(const Line& line) {
  if (graphs_.erase(line.row) == 0 && table_.MayUnfold(line.row)) {
    Graph& graph = GraphOf(line.row);
    graph.is_open.assign(graph.nodes.size(), true);
    LayOut(line.row, graph);
  }
  Count();
}

void TableLines::UnfoldAll() {
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (!table_.MayUnfold(row)) continue;
    Graph& graph = GraphOf(row);
    graph.is_open.assign(graph.nodes.size(), true);
    LayOut(row, graph);
  }
  Count();
}

// Graphs may be deep, so nodes wait in a list.
template <class Visit>
void TableLines::VisitNames(const Graph& graph, size_t node, const std::string& name,
                            const Visit& visit) {
  std::vector<std::pair<size_t, std::string>> waiting = {{node, name}};
  while (!waiting.empty()) {
    const auto [above, path] = std::move(waiting.back());
    waiting.pop_back();
    for (const size_t child : graph.nodes[above].children) {
      const std::vector<std::string>& functions = graph.nodes[child].functions;
      std::string below = path + '\n' + (functions.empty() ? "" : functions.front());
      if (visit(child, below)) waiting.emplace_back(child, std::move(below));
    }
  }
}

TableLines::Paths TableLines::Unfolded() const {
  Paths paths;
  for (const auto& [row, graph] : graphs_) {
    const std::string key = table_.KeyOf(row);
    paths.insert(key);
    VisitNames(graph, 0, key,
               [&paths, &open = graph.is_open](size_t node, const std::string& name) {
                 if (open[node]) paths.insert(name);
                 return static_cast<bool>(open[node]);
               });
  }
  return paths;
}

void TableLines::Unfold(const Paths& paths) {
  if (paths.empty()) return;
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (!table_.MayUnfold(row)) continue;
    const std::string key = table_.KeyOf(row);
    if (!paths.contains(key)) continue;
    Graph& graph = GraphOf(row);
    VisitNames(graph, 0, key, [&](size_t node, const std::string& name) {
      const bool is_open = paths.contains(name);
      if (is_open) graph.is_open[node] = true;
      return is_open;
    });
    LayOut(row, graph);
  }
  Count();
}

void TableLines::Count() {
  unfolded_.clear();
  size_t below = 0;
  for (const auto& [row, graph] : graphs_) {
    unfolded_.emplace_back(row + below, row);
    below += graph.lines.size();
  }
}

}  // namespace profiler::browser

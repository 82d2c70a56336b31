// The lines of a table whose rows unfold into call graphs. Graphs are built when they are unfolded.

#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/views/report/browsed_table.h"

namespace profiler::browser {

class TableLines {
 public:
  // A line: a row of the table, or a function of a node in the graph below the row.
  struct Line {
    size_t row = 0;
    size_t node = 0;   // 0: the row itself
    size_t entry = 0;  // index in the node's functions
    size_t depth = 0;  // number of nodes above
  };

  // The table must outlive the lines.
  explicit TableLines(report::BrowsedTable& table) : table_(table) {}

  size_t size() const;
  Line At(size_t line) const;
  // Returns the line of a row; the number of lines if the table has no such row.
  size_t LineOf(size_t row) const;

  // Returns '+' if the line unfolds, '-' if it is unfolded, ' ' if it does neither.
  char MarkOf(const Line& line) const;
  // Returns the node of a line that is no row.
  const report::BrowsedNode& NodeOf(const Line& line) const;

  // Unfolds one level, and its single branches, or folds the line. Returns false if it does
  // neither.
  bool Toggle(const Line& line);
  // Folds the line, or the node above, or the row. Returns the line that was folded.
  Line Fold(const Line& line);
  // Unfolds the whole graph of the line's row, or folds it.
  void ToggleWhole(const Line& line);
  void UnfoldAll();
  void FoldAll() { graphs_.clear(), Count(); }

  // Names of unfolded rows and nodes: the row's key (BrowsedTable::KeyOf), then the first function
  // of each node on the way.
  using Paths = std::set<std::string>;
  Paths Unfolded() const;
  // Unfolds the rows and nodes of these names, as far as this table has them.
  void Unfold(const Paths& paths);

 private:
  struct Graph {
    std::vector<report::BrowsedNode> nodes;
    std::vector<bool> is_open;  // [node]
    std::vector<Line> lines;    // lines below the row
  };

  Graph& GraphOf(size_t row);
  static bool MayUnfold(const report::BrowsedNode& node) {
    return node.functions.size() > 1 || !node.children.empty();
  }
  static void Open(Graph& graph, size_t node);
  // Calls `visit` with each node below `node`, and its name.
  template <class Visit>
  static void VisitNames(const Graph& graph, size_t node, const std::string& name,
                         const Visit& visit);
  void LayOut(size_t row, Graph& graph);
  void Count();

  report::BrowsedTable& table_;
  std::map<size_t, Graph> graphs_;  // by row; the rows that are unfolded
  // For each unfolded row, its line and the row.
  std::vector<std::pair<size_t, size_t>> unfolded_;
};

}  // namespace profiler::browser

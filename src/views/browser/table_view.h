// The table of a report on the screen: its rows, which unfold into call graphs, the selected line,
// and the keys and the mouse for both. Shared by the browser of `report` and the screen of `top`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/terminal/canvas.h"
#include "src/terminal/event.h"
#include "src/terminal/list_position.h"
#include "src/terminal/style.h"
#include "src/views/browser/table_lines.h"
#include "src/views/report/browsed_table.h"
#include "src/views/report/options.h"

namespace profiler::browser {

// kWide: a column behind the first percentage has the margin of each row for which it is a tenth of
// the percentage or more (BrowsedTable::MarginOf).
enum class Margins : uint8_t { kNone, kWide };

class TableView {
 public:
  using Line = TableLines::Line;

  using Kind = report::BrowsedTable::Kind;

  // Makes the table of `events` (report::BrowsableTables). The profile must outlive the view.
  TableView(const profile::Profile& profile, const report::ReportOptions& options,
            std::vector<profile::EventId> events, Margins margins = Margins::kNone,
            Kind kind = Kind::kIsFixed);

  // Makes the table from parts that all views of a profile share.
  TableView(report::BrowsedProfile& shared, const report::ReportOptions& options,
            std::vector<profile::EventId> events);

  // Takes over changes (report::BrowsedTable::Update), and folds all rows. Returns false if the view
  // must be made again.
  bool Update(std::span<const profile::RowChange> changes);

  report::BrowsedTable& table() { return table_; }
  const report::BrowsedTable& table() const { return table_; }
  TableLines& lines() { return lines_; }

  // Draws the headings in one row of the pane, and the lines in all rows of a pane. `scrolled` is
  // the number of columns left of the pane.
  void DrawHeadings(terminal::Pane pane, int row, size_t scrolled,
                    const terminal::Style& style) const;
  void Draw(terminal::Pane pane, size_t scrolled);

  // Returns nullopt if the table has no rows.
  std::optional<Line> Selected() const;
  void Select(const Line& line);
  // Selects the row of that key. Returns false if there is none.
  bool SelectRow(const std::string& key);
  // Moves by keys and the wheel (terminal::ListPosition). Returns false for other events.
  bool Move(const terminal::Event& event) { return position_.Handle(event); }
  // Selects the line in that row of the pane; unfolds or folds it if it is selected.
  void Press(int row);
  // True if the first line is selected.
  bool IsAtTop() const { return position_.selected() == 0; }

  // Unfolds or folds the selected line. Returns false if it does neither.
  bool Toggle();
  // Folds and unfolds by perf's keys + - e c E C.
  void HandleFolds(char key);

 private:
  void DrawLine(terminal::Pane pane, int row, const Line& line, size_t scrolled);
  std::string MarginCell(const Line& line, double percent) const;

  const Margins margins_;
  report::BrowsedTable table_;
  TableLines lines_;
  terminal::ListPosition position_;
  size_t visible_ = 1;  // rows of the pane, when drawn last
};

}  // namespace profiler::browser

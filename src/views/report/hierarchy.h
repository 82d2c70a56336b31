// Rows within rows, with a level for each sort key:
//
//       Overhead  Command / Symbol
//   ............  ..............
//
//     75.00%     worker
//        50.00%     [.] parse
//        25.00%     [.] read
//
// Each level is a table by the keys up to its own key. So a row's weight is that of all samples
// with the same values of these keys, including the weight of callees.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/views/report/columns.h"
#include "src/views/report/hist.h"
#include "src/views/report/options.h"
#include "src/views/report/row_graphs.h"

namespace profiler::report {

// A hierarchy of rows. All constructor arguments must outlive it. Not thread-safe.
class Hierarchy {
 public:
  // `events`: the leader and members of a group. `settled`: options of the last level.
  Hierarchy(const profile::Profile& profile, const FunctionTable& functions,
            std::span<const profile::EventId> events, const HistOptions& settled,
            const ReportOptions& options, const FieldLayout& layout);

  // Returns the last level, whose rows have call graphs.
  const Histogram& leaves() const { return *levels_.back().hist; }

  void AppendHeadings(std::string& out) const;
  // Appends the rows. Calls `flush` after each row of the first level, and within its call graphs.
  void AppendRows(RowGraphs& graphs, std::string& out, absl::FunctionRef<void()> flush);

 private:
  struct Level {
    std::unique_ptr<Histogram> hist;
    std::unique_ptr<HistFigures> figures;
    // Columns of weights, then the column of the level's key
    std::vector<std::unique_ptr<Column>> columns;
    std::vector<std::vector<uint32_t>> below;  // [row]: its rows in the next level
    std::vector<bool> is_shown;                // [row]: True if it is shown
  };

  void AddLevel(size_t keys, const profile::Profile& profile, const FunctionTable& functions,
                std::span<const profile::EventId> events, const HistOptions& settled,
                const FieldLayout& layout);
  void Nest(Level& outer, const Level& inner);
  void DecideWhatIsShown();
  void AppendRow(size_t depth, size_t row, RowGraphs& graphs, std::string& out,
                 absl::FunctionRef<void()> flush);
  void AppendNoEntry(size_t depth, std::string& out) const;
  bool IsHeavyEnough(const Level& level, size_t row) const;
  size_t Indent() const { return separator_.empty() ? kIndent * (levels_.size() - 1) : 0; }

  static constexpr size_t kIndent = 3;

  // Options without the filter and widths, so that all columns are shown and as wide as needed.
  const ReportOptions options_;
  const std::string separator_;
  const double percent_limit_;
  std::vector<Level> levels_;
};

}  // namespace profiler::report

// A table of a report whose lines and call graphs are read one by one, for views that show a part of
// it at a time. The lines are those of WriteReport (report.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/row_change.h"
#include "src/views/report/options.h"

namespace profiler::report {

// A node of the call graph below a row: a run of functions without a branch.
struct BrowsedNode {
  double percent = 0;
  std::string value;                   // "12.50%", or as --call-graph asks; empty: that of the row
  std::vector<std::string> functions;  // names as in a graph's text; empty in the root
  std::vector<size_t> children;        // indices of nodes
};

// The thread and the code that a row shows.
struct RowFacts {
  profile::ThreadId thread{};
  profile::ImageId image{};
  profile::Mode mode = profile::Mode::kUnknown;
  std::string_view function;  // empty: no name
};

// Parts of tables that depend only on the profile, kept for the next table. The profile must outlive
// it, and must not change. Several threads may make tables of it.
class BrowsedProfile {
 public:
  explicit BrowsedProfile(const profile::Profile& profile);
  BrowsedProfile(const BrowsedProfile&) = delete;
  ~BrowsedProfile();

  const profile::Profile& profile() const { return profile_; }

 private:
  friend class BrowsedTable;
  struct Parts;
  const profile::Profile& profile_;
  std::unique_ptr<Parts> parts_;
};

class BrowsedTable {
 public:
  // Makes the table of `events` (TablesOf); none of them has branch stacks. The profile must outlive
  // the table. Costs as much as WriteReport without call graphs. kIsLive: Update may be called.
  enum class Kind : bool { kIsFixed, kIsLive };
  BrowsedTable(const profile::Profile& profile, const ReportOptions& options,
               std::vector<profile::EventId> events, Kind kind = Kind::kIsFixed);
  // Makes a fixed table, from parts that other tables of this profile have left.
  BrowsedTable(BrowsedProfile& shared, const ReportOptions& options,
               std::vector<profile::EventId> events);
  BrowsedTable(const BrowsedTable&) = delete;
  ~BrowsedTable();

  // Takes over changes that the rows of the profile already have; the profile may have grown. Then
  // rows have other numbers. Returns false, and changes nothing, if the table must be made again.
  bool Update(std::span<const profile::RowChange> changes);

  // Number of lines, in the order of the report. Lines that a part of a symbol excludes have no
  // number; SetSymbolPart chooses others, and keeps the columns' widths.
  size_t rows() const;
  void SetSymbolPart(std::string_view part);

  std::string Headings() const;  // without the marks of comments
  // Returns a line, without its end.
  std::string Line(size_t row);
  // Returns the first percentage of the line: of the row and its callees, if there are any.
  double PercentOf(size_t row) const;
  // Returns half the width of the 95 % interval of PercentOf, in percentage points, as if samples
  // were independent (Agresti and Coull 1998).
  double MarginOf(size_t row) const;
  // Returns facts about the first sample of the row, which is one of many where no sort key tells
  // them apart.
  RowFacts FactsOf(size_t row) const;
  // Returns the row's sort keys as text, by which a table of other samples has the same row.
  std::string KeyOf(size_t row) const;

  // Does a part of the work that later calls would need: the first call graph, the order of the
  // light rows, the graphs of the heaviest rows. Returns true if more is left. Another thread may
  // call it while this one uses the table, except Update. Then SetSymbolPart, Unfold, and calls for
  // rows behind the heaviest ones wait for the part, which takes some tens of milliseconds at most.
  bool PrepareNext();
  // True if the row may have a call graph.
  bool MayUnfold(size_t row) const;
  // Returns the call graph of a row; node 0 is its root. Takes time linear in the row's samples and
  // in the nodes.
  std::vector<BrowsedNode> Unfold(size_t row);

  // Returns the text above the table, such as "Samples: 24K of event 'cycles'"; one line each. The
  // first call after a change costs a pass over the profile's rows.
  const std::vector<std::string>& Totals() const;
  const std::vector<profile::EventId>& events() const;
  bool has_call_graphs() const;
  // True if a row has its callers below it, false if its callees.
  bool shows_callers() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Returns the events of each table that a BrowsedTable can show (event_tables.h).
std::vector<std::vector<profile::EventId>> BrowsableTables(const profile::Profile& profile,
                                                           const ReportOptions& options);

}  // namespace profiler::report

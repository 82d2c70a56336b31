#include "src/views/report/report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/profile/losses_text.h"
#include "src/views/report/branch_rows.h"
#include "src/views/report/call_graph.h"
#include "src/views/report/chains.h"
#include "src/views/report/columns.h"
#include "src/views/report/event_tables.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hierarchy.h"
#include "src/views/report/hist.h"
#include "src/views/report/hist_figures.h"
#include "src/views/report/resolved_options.h"
#include "src/views/report/row_graphs.h"
#include "src/views/report/table.h"

namespace profiler::report {

using profile::EventId;
using profile::Profile;

namespace {

constexpr size_t kPiece = 1 << 16;  // approximate number of bytes passed to the sink at once

class Report {
 public:
  Report(const Profile& profile, const ReportOptions& options, TextSink sink)
      : profile_(profile),
        options_(options),
        functions_(profile, options.inlines, PositionKeysOf(options),
                   options.full_dso_paths ? ImageNames::kPaths : ImageNames::kShort),
        sink_(sink) {}

  void Write() {
    AppendElidedColumns();
    out_ += "#\n";
    absl::StrAppend(&out_, "# Total Lost Samples: ", profile_.losses.lost_samples, "\n#\n");
    AppendLosses();
    if (options_.quiet) out_.clear();
    for (const std::vector<EventId>& events : TablesOf(profile_, options_)) AppendTable(events);
    Flush();
  }

 private:
  void AppendElidedColumns() {
    // The order of the lists in perf, which does not depend on the order of columns.
    constexpr std::array<std::pair<SortKey, std::string_view>, 3> kLists = {
        {{SortKey::kDso, "dso"}, {SortKey::kComm, "comm"}, {SortKey::kSymbol, "symbol"}}};
    for (const auto& [key, title] : kLists) {
      const std::string* name = OnlyName(key, profile_, options_.filter);
      if (name == nullptr) continue;
      absl::StrAppend(&out_, "# ", View(title), ": ");
      AppendPrintable(*name, out_);
      out_ += '\n';
    }
  }

  // Appends other losses, warnings, and the quality of call chains; nothing if there are none.
  void AppendLosses() {
    std::string line = profile::LossesText(profile_.losses);
    if (!line.empty()) line.insert(0, "# Losses: ");
    for (const std::string& warning : profile_.losses.warnings) {
      if (!line.empty()) line += '\n';
      line += "# Warning: ";
      AppendPrintable(warning, line);
    }
    if (!line.empty()) absl::StrAppend(&out_, line, "\n#\n");
    const std::string chains = ChainsLine(profile_);
    if (!chains.empty()) absl::StrAppend(&out_, chains, "#\n");
  }

  void AppendTable(const std::vector<EventId>& events) {
    const EventId leader = events.front();
    if (profile_[leader].branch_stacks) {
      if (!options_.quiet) {
        AppendSampleCount(profile_, options_, events, profile_[leader].samples, out_);
      }
      AppendBranches(profile_, functions_, leader, options_, out_);
      out_ += "\n\n";
      return;
    }
    const HistOptions settled = ResolvedOptions(options_, profile_, events);
    if (options_.hierarchy && !settled.sort.empty()) {
      Hierarchy rows(profile_, functions_, events, settled, options_,
                     LayOutOf(options_, settled.children));
      if (!options_.quiet) AppendTotals(rows.leaves(), options_, events, out_);
      if (!options_.quiet) rows.AppendHeadings(out_);
      RowGraphs graphs(rows.leaves(), SettledGraphOptions(options_), SkipsFirstEntry());
      rows.AppendRows(graphs, out_, [&] { FlushPiece(); });
    } else {
      const Histogram hist(profile_, functions_, leader, settled, std::span(events).subspan(1));
      const HistFigures figures = options_.ShowsFigures() ? FiguresOf(hist, leader) : HistFigures();
      if (!options_.quiet) AppendTotals(hist, options_, events, out_);
      if (!options_.quiet && options_.ShowsFigures()) AppendFigureLines(hist, figures);
      AppendRows(hist, figures);
    }
    out_ += "\n\n";
  }

  // Explains the columns of figures, and the number of samples that would separate tied rows.
  void AppendFigureLines(const Histogram& hist, const HistFigures& figures) {
    if (hist.rows().empty()) return;
    if (figures.rows.empty()) {
      absl::StrAppend(&out_, "# 95%: there are no intervals, because ",
                      figures.is_count ? "every occurrence was counted, so nothing is estimated"
                                       : "the order of these samples is not known",
                      "\n#\n");
      return;
    }
    out_ +=
        "# 95%: has the true share in 95 of 100 recordings; rows of one rank may be in any order\n";
    if (figures.tie) {
      absl::StrAppend(&out_, "# About ", figures.tie->samples, " samples are needed to rank ");
      AppendNameOf(hist, figures.tie->row);
      out_ += " and ";
      AppendNameOf(hist, figures.tie->next);
      out_ += '\n';
    }
    constexpr double kWorthSaying = 0.0005;
    if (figures.missing_part >= kWorthSaying) {
      absl::StrAppendFormat(
          &out_,
          "# %.1f%% of the samples are missing: the 95% intervals allow for them, by "
          "the samples around each gap\n",
          100 * figures.missing_part);
    }
    out_ += "#\n";
  }

  // Appends the row's cell of the last sort key.
  void AppendNameOf(const Histogram& hist, size_t row) {
    std::string cell;
    const FieldLayout key{.shown = {options_.sort.back()}};
    for (const auto& column : MakeColumns(hist, HistFigures(), options_, key)) {
      column->AppendCell(row, cell);
    }
    const size_t first = std::min(cell.find_first_not_of(' '), cell.size());
    out_ += cell.substr(first, cell.find_last_not_of(' ') + 1 - first);
  }

  // True if a row's first column is the symbol that its graph would begin with.
  bool SkipsFirstEntry() const {
    if (!options_.fields.fields.empty()) return false;
    if (!options_.sort_fields.empty())
      return options_.sort_fields.front() == Field(SortKey::kSymbol);
    return options_.sort.front() == SortKey::kSymbol;
  }

  void AppendRows(const Histogram& hist, const HistFigures& figures) {
    const FieldLayout layout = LayOutOf(options_, hist.options().children);
    Table table(hist, figures, options_, layout);
    if (!options_.quiet) table.AppendHeadings(out_);

    RowGraphs graphs(hist, SettledGraphOptions(options_), SkipsFirstEntry());
    for (const uint32_t i : ListedRows(hist, options_)) {
      table.AppendRow(i, out_);
      graphs.Append(i, out_, [&] { FlushPiece(); });
      FlushPiece();
    }
  }

  void FlushPiece() {
    if (out_.size() >= kPiece) Flush();
  }

  void Flush() {
    if (!out_.empty()) sink_(out_);
    out_.clear();
  }

  const Profile& profile_;
  const ReportOptions& options_;
  const FunctionTable functions_;
  TextSink sink_;
  std::string out_;
};

}  // namespace

std::string AbbreviatedCount(uint64_t count) {
  // tools/perf/util/units.c, convert_unit()
  constexpr std::string_view kUnits = " KMG";
  size_t unit = 0;
  while (count >= 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  std::string text = std::to_string(count);
  text += kUnits[unit];
  return text;
}

void WriteReport(const Profile& profile, const ReportOptions& options, TextSink sink) {
  Report(profile, options, sink).Write();
}

}  // namespace profiler::report

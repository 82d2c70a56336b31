#include "src/views/report/browsed_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_split.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/call_graph.h"
#include "src/views/report/cell_text.h"
#include "src/views/report/columns.h"
#include "src/views/report/event_tables.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist.h"
#include "src/views/report/hist_figures.h"
#include "src/views/report/resolved_options.h"
#include "src/views/report/table.h"

namespace profiler::report {

using profile::EventId;
using profile::Profile;

struct BrowsedTable::Parts {
  Parts(const Profile& profile, const ReportOptions& wanted, std::vector<EventId> of)
      : options(wanted),
        events(std::move(of)),
        functions(profile, options.inlines, PositionKeysOf(options),
                  options.full_dso_paths ? ImageNames::kPaths : ImageNames::kShort),
        hist(profile, functions, events.front(), ResolvedOptions(options, profile, events),
             std::span(events).subspan(1)),
        figures(options.ShowsFigures() ? FiguresOf(hist, events.front()) : HistFigures()),
        layout(LayOutOf(options, hist.options().children)),
        table(hist, figures, options, layout),
        keys(MakeColumns(hist, HistFigures(), options, KeysOnly(options))),
        graph_options(SettledGraphOptions(options)) {}

  static FieldLayout KeysOnly(const ReportOptions& options) {
    return {.shown = {options.sort.begin(), options.sort.end()}};
  }

  std::string_view NameOf(size_t row) const {
    const Function& function = functions[hist.rows()[row].function];
    return function.named() ? hist.profile().text(function.name) : std::string_view();
  }

  const ReportOptions options;
  const std::vector<EventId> events;
  const FunctionTable functions;
  const Histogram hist;
  const HistFigures figures;
  const FieldLayout layout;
  Table table;
  const std::vector<std::unique_ptr<Column>> keys;
  const CallGraphOptions graph_options;
  std::optional<CallGraph> graph;  // made when the first row unfolds
  std::vector<uint32_t> listed;    // rows of the histogram that are lines
};

BrowsedTable::BrowsedTable(const Profile& profile, const ReportOptions& options,
                           std::vector<EventId> events)
    : parts_(std::make_unique<Parts>(profile, options, std::move(events))) {
  SetSymbolPart("");
}

BrowsedTable::~BrowsedTable() = default;

size_t BrowsedTable::rows() const { return parts_->listed.size(); }

void BrowsedTable::SetSymbolPart(std::string_view part) {
  parts_->listed.clear();
  for (const uint32_t row : ListedRows(parts_->hist, parts_->options)) {
    if (!part.empty() && parts_->NameOf(row).find(part) == std::string_view::npos) continue;
    parts_->listed.push_back(row);
  }
}

std::string BrowsedTable::Headings() const {
  std::string text;
  parts_->table.AppendHeadings(text);
  return text.substr(2, text.find('\n') - 2);
}

std::string BrowsedTable::Line(size_t row) {
  std::string text;
  parts_->table.AppendRow(parts_->listed[row], text);
  text.pop_back();
  return text;
}

double BrowsedTable::PercentOf(size_t row) const {
  return Percent(parts_->hist.rows()[parts_->listed[row]].children.period,
                 parts_->hist.total().period);
}

double BrowsedTable::MarginOf(size_t row) const {
  constexpr double kQuantile = 1.96;
  const auto samples = static_cast<double>(parts_->hist.total().count) + 4;
  const auto own = static_cast<double>(parts_->hist.rows()[parts_->listed[row]].children.count) + 2;
  const double part = std::min(own / samples, 1.0);
  return 100 * kQuantile * std::sqrt(part * (1 - part) / samples);
}

std::string BrowsedTable::KeyOf(size_t row) const {
  std::string key;
  for (const auto& column : parts_->keys) {
    const size_t begin = key.size();
    column->AppendCell(parts_->listed[row], key);
    // Widths differ from table to table.
    key.erase(key.find_last_not_of(' ') + 1);
    key.erase(begin, std::min(key.find_first_not_of(' ', begin), key.size()) - begin);
    key += '\t';
  }
  return key;
}

RowFacts BrowsedTable::FactsOf(size_t row) const {
  const HistRow& shown = parts_->hist.rows()[parts_->listed[row]];
  const Function& function = parts_->functions[shown.function];
  return {.thread = shown.thread,
          .image = function.image,
          .mode = function.mode,
          .function = parts_->NameOf(parts_->listed[row])};
}

bool BrowsedTable::MayUnfold(size_t row) const {
  return parts_->hist.options().chains && parts_->hist.MayHaveChains(parts_->listed[row]);
}

std::vector<BrowsedNode> BrowsedTable::Unfold(size_t row) {
  if (!MayUnfold(row)) return {BrowsedNode()};
  if (!parts_->graph) parts_->graph.emplace(parts_->hist, parts_->graph_options);
  const ChainTree tree = parts_->graph->Build(parts_->listed[row]);
  const uint64_t row_period = parts_->hist.rows()[parts_->listed[row]].children.period;
  const bool fractal = parts_->graph_options.type == CallGraphType::kFractal;
  std::vector<BrowsedNode> nodes(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    nodes[i].children = tree[i].children;
    for (const FunctionId id : tree[i].path) {
      AppendFunctionName(parts_->hist.profile(), parts_->functions[id],
                         nodes[i].functions.emplace_back());
    }
    if (i == 0) continue;
    const uint64_t above = tree[i].parent == 0 ? row_period : tree[tree[i].parent].total.period;
    nodes[i].percent = Percent(tree[i].total.period, fractal ? above : parts_->hist.total().period);
    const bool is_trunk =
        tree[i].parent == 0 && tree[0].children.size() == 1 && tree[i].total.period == row_period;
    if (is_trunk) continue;
    if (parts_->graph_options.value == ChainValue::kPeriod) {
      nodes[i].value = std::to_string(tree[i].total.period);
    } else if (parts_->graph_options.value == ChainValue::kCount) {
      nodes[i].value = std::to_string(tree[i].total.count);
    } else {
      AppendPercent(tree[i].total.period, fractal ? above : parts_->hist.total().period, 0,
                    nodes[i].value);
    }
  }
  return nodes;
}

std::vector<std::string> BrowsedTable::Totals() const {
  std::string text;
  AppendTotals(parts_->hist, parts_->options, parts_->events, text);
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    if (line.size() > 2) lines.emplace_back(line.substr(2));
  }
  return lines;
}

const std::vector<EventId>& BrowsedTable::events() const { return parts_->events; }

bool BrowsedTable::has_call_graphs() const { return parts_->hist.options().chains; }

bool BrowsedTable::shows_callers() const {
  return parts_->hist.options().order == ChainOrder::kCallee;
}

std::vector<std::vector<EventId>> BrowsableTables(const Profile& profile,
                                                  const ReportOptions& options) {
  std::vector<std::vector<EventId>> tables = TablesOf(profile, options);
  std::erase_if(tables, [&](const std::vector<EventId>& events) {
    return profile[events.front()].branch_stacks;
  });
  return tables;
}

}  // namespace profiler::report

#include "src/views/report/browsed_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_split.h"
#include "src/analysis/stack_walk.h"
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

namespace {

std::shared_ptr<FunctionTable> MakeFunctions(const Profile& profile, const ReportOptions& options,
                                             FunctionTable::Growth growth) {
  return std::make_shared<FunctionTable>(
      profile, options.inlines, PositionKeysOf(options),
      options.full_dso_paths ? ImageNames::kPaths : ImageNames::kShort, growth);
}

}  // namespace

struct BrowsedProfile::Parts {
  // Returns the functions for tables with these options. Thread-safe.
  std::shared_ptr<FunctionTable> FunctionsFor(const Profile& profile,
                                              const ReportOptions& options) {
    const std::lock_guard lock(mutex);
    const Key wanted{options.inlines, options.full_dso_paths, PositionKeysOf(options).wanted};
    if (functions == nullptr || key != wanted) {
      functions = MakeFunctions(profile, options, FunctionTable::Growth::kIsFixed);
      key = wanted;
    }
    return functions;
  }

  // Returns the numbers of stacks (analysis::DepthFirst). Thread-safe.
  const HugeVector<uint32_t>& DepthFirstOf(const Profile& profile) {
    const std::lock_guard lock(mutex);
    if (!depth_first) depth_first = analysis::DepthFirst(profile.stacks);
    return *depth_first;
  }

  using Key = std::tuple<bool, bool, std::array<bool, 3>>;
  std::mutex mutex;  // guards the members below
  Key key;
  std::shared_ptr<FunctionTable> functions;
  std::optional<HugeVector<uint32_t>> depth_first;
};

BrowsedProfile::BrowsedProfile(const Profile& profile)
    : profile_(profile), parts_(std::make_unique<Parts>()) {}

BrowsedProfile::~BrowsedProfile() = default;

struct BrowsedTable::Parts {
  Parts(const Profile& profile, const ReportOptions& wanted, std::vector<EventId> of, Kind kind,
        std::shared_ptr<FunctionTable> with, const HugeVector<uint32_t>* depth_first)
      : options(wanted),
        events(std::move(of)),
        is_live(kind == Kind::kIsLive),
        functions(std::move(with)),
        // Figures compare each row with the next one.
        hist(profile, *functions, events.front(), ResolvedOptions(options, profile, events),
             std::span(events).subspan(1),
             options.ShowsFigures() ? Histogram::Order::kAll : Histogram::Order::kHeaviest,
             depth_first),
        figures(options.ShowsFigures() ? FiguresOf(hist, events.front()) : HistFigures()),
        layout(LayOutOf(options, hist.options().children)),
        graph_options(SettledGraphOptions(options)) {
    MakeLines();
  }

  // Makes the parts that depend on the order of the rows.
  void MakeLines() {
    sorted = hist.sorted();
    table.emplace(hist, figures, options, layout);
    keys.clear();
    totals.clear();
    Choose();
  }

  // Chooses the rows that are lines.
  void Choose() {
    listed.clear();
    for (const uint32_t row : ListedRows(hist, options)) {
      if (!symbol_part.empty() && NameOf(row).find(symbol_part) == std::string_view::npos) continue;
      listed.push_back(row);
    }
  }

  static FieldLayout KeysOnly(const ReportOptions& options) {
    return {.shown = {options.sort.begin(), options.sort.end()}};
  }

  // Returns the row of the histogram that is a line. Lines behind the heaviest rows get their order
  // when the first of them is wanted.
  uint32_t RowOf(size_t line) {
    if (listed[line] >= sorted) {
      const std::lock_guard lock(mutex);
      if (hist.sorted() < hist.rows().size()) hist.SortRest();
      MakeLines();
    }
    return listed[line];
  }

  // Returns the call graph of a row of the histogram. `graph` must be made.
  std::vector<BrowsedNode> GraphOf(uint32_t row);

  // Returns the function's name of a row of the histogram; empty if it has none.
  std::string_view NameOf(uint32_t row) const {
    const Function& function = (*functions)[hist.rows()[row].function];
    return function.named() ? hist.profile().text(function.name) : std::string_view();
  }

  const ReportOptions options;
  const std::vector<EventId> events;
  const bool is_live;
  const std::shared_ptr<FunctionTable> functions;
  Histogram hist;
  const HistFigures figures;
  const FieldLayout layout;
  size_t sorted = 0;  // rows of the histogram that were sorted when the lines were made
  std::optional<Table> table;
  std::vector<std::unique_ptr<Column>> keys;  // made when the first key is wanted
  const CallGraphOptions graph_options;
  // Guards the two members below, and the order of the histogram's rows from `sorted` on, while
  // another thread prepares them.
  std::mutex mutex;
  std::optional<CallGraph> graph;  // made when the first row unfolds
  // Call graphs that were prepared, by row of the histogram.
  std::vector<std::vector<BrowsedNode>> prepared;
  std::atomic<bool> is_prepared = false;
  std::string symbol_part;
  std::vector<uint32_t> listed;     // rows of the histogram that are lines
  std::vector<std::string> totals;  // made when they are wanted, because they cost a pass over rows
};

BrowsedTable::BrowsedTable(const Profile& profile, const ReportOptions& options,
                           std::vector<EventId> events, Kind kind)
    : parts_(std::make_unique<Parts>(
          profile, options, std::move(events), kind,
          MakeFunctions(profile, options,
                        kind == Kind::kIsLive ? FunctionTable::Growth::kGrows
                                              : FunctionTable::Growth::kIsFixed),
          nullptr)) {}

BrowsedTable::BrowsedTable(BrowsedProfile& shared, const ReportOptions& options,
                           std::vector<EventId> events) {
  parts_ = std::make_unique<Parts>(shared.profile_, options, std::move(events), Kind::kIsFixed,
                                   shared.parts_->FunctionsFor(shared.profile_, options),
                                   &shared.parts_->DepthFirstOf(shared.profile_));
}

BrowsedTable::~BrowsedTable() = default;

bool BrowsedTable::Update(std::span<const profile::RowChange> changes) {
  if (!parts_->is_live || !parts_->figures.rows.empty() || !parts_->hist.CanUpdate(changes)) {
    return false;
  }
  const Profile& profile = parts_->hist.profile();
  std::vector<profile::FrameId> interrupted;
  interrupted.reserve(changes.size());
  for (const profile::RowChange& change : changes) {
    interrupted.push_back(profile.rows[change.row].self);
  }
  parts_->functions->Grow(interrupted);
  if (changes.empty()) return true;
  parts_->hist.Update(changes);
  parts_->graph.reset();
  parts_->prepared.clear();
  parts_->MakeLines();
  return true;
}

size_t BrowsedTable::rows() const { return parts_->listed.size(); }

void BrowsedTable::SetSymbolPart(std::string_view part) {
  const std::lock_guard lock(parts_->mutex);
  parts_->symbol_part = part;
  parts_->Choose();
}

std::string BrowsedTable::Headings() const {
  std::string text;
  parts_->table->AppendHeadings(text);
  return text.substr(2, text.find('\n') - 2);
}

std::string BrowsedTable::Line(size_t row) {
  std::string text;
  parts_->table->AppendRow(parts_->RowOf(row), text);
  text.pop_back();
  return text;
}

double BrowsedTable::PercentOf(size_t row) const {
  return Percent(parts_->hist.rows()[parts_->RowOf(row)].children.period,
                 parts_->hist.total().period);
}

double BrowsedTable::MarginOf(size_t row) const {
  constexpr double kQuantile = 1.96;
  const auto samples = static_cast<double>(parts_->hist.total().count) + 4;
  const auto own = static_cast<double>(parts_->hist.rows()[parts_->RowOf(row)].children.count) + 2;
  const double part = std::min(own / samples, 1.0);
  return 100 * kQuantile * std::sqrt(part * (1 - part) / samples);
}

std::string BrowsedTable::KeyOf(size_t row) const {
  std::string key;
  const uint32_t of_key = parts_->RowOf(row);
  if (parts_->keys.empty()) {
    parts_->keys =
        MakeColumns(parts_->hist, HistFigures(), parts_->options, Parts::KeysOnly(parts_->options));
  }
  for (const auto& column : parts_->keys) {
    const size_t begin = key.size();
    column->AppendCell(of_key, key);
    // Widths differ from table to table.
    key.erase(key.find_last_not_of(' ') + 1);
    key.erase(begin, std::min(key.find_first_not_of(' ', begin), key.size()) - begin);
    key += '\t';
  }
  return key;
}

RowFacts BrowsedTable::FactsOf(size_t row) const {
  const HistRow& shown = parts_->hist.rows()[parts_->RowOf(row)];
  const Function& function = (*parts_->functions)[shown.function];
  return {.thread = shown.thread,
          .image = function.image,
          .mode = function.mode,
          .function = parts_->NameOf(parts_->RowOf(row))};
}

bool BrowsedTable::PrepareNext() {
  constexpr size_t kMostPrepared = 256;
  Parts& parts = *parts_;
  const std::lock_guard lock(parts.mutex);
  const size_t next = parts.prepared.size();
  if (parts.hist.options().chains && !parts.graph) {
    parts.graph.emplace(parts.hist, parts.graph_options);
  } else if (parts.hist.sorted() < parts.hist.rows().size()) {
    parts.hist.SortRest();
  } else if (next < kMostPrepared && parts.hist.options().chains &&
             parts.hist.MayHaveChains(next)) {
    parts.prepared.push_back(parts.GraphOf(static_cast<uint32_t>(next)));
  } else {
    parts.is_prepared = true;
  }
  return !parts.is_prepared;
}

bool BrowsedTable::MayUnfold(size_t row) const {
  return parts_->hist.options().chains && parts_->hist.MayHaveChains(parts_->listed[row]);
}

std::vector<BrowsedNode> BrowsedTable::Unfold(size_t row) {
  if (!MayUnfold(row)) return {BrowsedNode()};
  const uint32_t of_graph = parts_->RowOf(row);
  const std::lock_guard lock(parts_->mutex);
  if (of_graph < parts_->prepared.size()) return parts_->prepared[of_graph];
  if (!parts_->graph) parts_->graph.emplace(parts_->hist, parts_->graph_options);
  return parts_->GraphOf(of_graph);
}

std::vector<BrowsedNode> BrowsedTable::Parts::GraphOf(uint32_t row) {
  const ChainTree tree = graph->Build(row);
  const uint64_t row_period = hist.rows()[row].children.period;
  const bool fractal = graph_options.type == CallGraphType::kFractal;
  std::vector<BrowsedNode> nodes(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    nodes[i].children = tree[i].children;
    for (const FunctionId id : tree[i].path) {
      AppendFunctionName(hist.profile(), (*functions)[id], nodes[i].functions.emplace_back());
    }
    if (i == 0) continue;
    const uint64_t above = tree[i].parent == 0 ? row_period : tree[tree[i].parent].total.period;
    nodes[i].percent = Percent(tree[i].total.period, fractal ? above : hist.total().period);
    const bool is_trunk =
        tree[i].parent == 0 && tree[0].children.size() == 1 && tree[i].total.period == row_period;
    if (is_trunk) continue;
    if (graph_options.value == ChainValue::kPeriod) {
      nodes[i].value = std::to_string(tree[i].total.period);
    } else if (graph_options.value == ChainValue::kCount) {
      nodes[i].value = std::to_string(tree[i].total.count);
    } else {
      AppendPercent(tree[i].total.period, fractal ? above : hist.total().period, 0, nodes[i].value);
    }
  }
  return nodes;
}

const std::vector<std::string>& BrowsedTable::Totals() const {
  std::vector<std::string>& lines = parts_->totals;
  if (!lines.empty()) return lines;
  std::string text;
  AppendTotals(parts_->hist, parts_->options, parts_->events, text);
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

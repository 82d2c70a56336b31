#include "src/report/report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/profile/losses_text.h"
#include "src/report/branches.h"
#include "src/report/call_graph.h"
#include "src/report/chains.h"
#include "src/report/functions.h"
#include "src/report/hist.h"
#include "src/report/names.h"
#include "src/report/text.h"

namespace profiler::report {

using profile::DsoKind;
using profile::EventId;
using profile::Mode;
using profile::Profile;
using profile::Thread;

namespace {

constexpr size_t kWeightWidth = 8;    // of one event, in "Children", "Self" and "Overhead"
constexpr size_t kSamplesWidth = 12;  // of one event, in "Samples"
constexpr size_t kPidWidth = 7;       // in "Pid:Command"
constexpr size_t kPiece = 1 << 16;    // bytes handed to the sink at once, about
constexpr double kDefaultThreshold = 0.5;

// A list of one name makes its column superfluous: perf names it once, in a comment.
const std::string* OnlyName(SortKey key, const Filter& filter) {
  const auto only = [](const std::vector<std::string>& list) {
    return list.size() == 1 ? &list[0] : nullptr;
  };
  if (key == SortKey::kComm) return only(filter.comms);
  if (key == SortKey::kDso) return only(filter.dsos);
  if (key == SortKey::kSymbol) return only(filter.symbols);
  return nullptr;
}

// Whether it tells apart functions of one DSO.
bool IsOfFunction(SortKey key) {
  return key == SortKey::kSymbol || key == SortKey::kSrcline || key == SortKey::kSrcfile ||
         key == SortKey::kSymoff;
}

// The table of one event, or of a group.
class Table {
 public:
  Table(const Histogram& hist, const ReportOptions& options)
      : hist_(hist),
        profile_(hist.profile()),
        options_(options),
        percents_(256),
        comm_cells_(hist.profile().threads.size()),
        dso_cells_(hist.profile().dsos.size()) {
    for (const SortKey key : options.sort) {
      if (OnlyName(key, options.filter) == nullptr) columns_.push_back({key, Heading(key).size()});
    }
    const size_t events = 1 + hist.member_totals().size();
    const size_t width = events * kWeightWidth;
    if (hist.options().children) {
      weight_columns_.push_back({options.latency ? "Latency Children" : "Children", width});
      weight_columns_.push_back({options.latency ? "Latency     Self" : "Self", width});
    } else {
      weight_columns_.push_back({options.latency ? "Latency Overhead" : "Overhead", width});
    }
    if (options.show_samples) weight_columns_.push_back({"Samples", events * kSamplesWidth});
    only_last_is_of_function_ =
        !columns_.empty() && events == 1 &&
        std::all_of(columns_.begin(), columns_.end() - 1,
                    [](const Column& column) { return !IsOfFunction(column.key); });
    for (size_t i = 0; i < hist.rows().size(); ++i) {
      Prefetch(i);
      for (Column& column : columns_) Widen(column, hist.rows()[i]);
    }
  }

  // Rows in order of weight refer to functions at random: asks for one that is needed soon.
  void Prefetch(size_t row) const {
    constexpr size_t kAhead = 16;
    const std::span<const HistRow> rows = hist_.rows();
    if (row + kAhead < rows.size()) {
      __builtin_prefetch(&hist_.functions()[rows[row + kAhead].function]);
    }
  }

  void AppendHeadings(std::string& out) const {
    std::string_view before = "# ";
    for (const auto& [heading, width] : weight_columns_) {
      AppendRightAligned(heading, width, out.append(before));
      before = "  ";
    }
    for (const Column& column : columns_) {
      out += "  ";
      AppendLeftAligned(Heading(column.key), column.width, out);
    }
    before = "\n# ";
    for (const auto& [heading, width] : weight_columns_) {
      out.append(before).append(width, '.');
      before = "  ";
    }
    for (const Column& column : columns_) {
      out += "  ";
      out.append(column.width, '.');
    }
    out += "\n#\n";
  }

  // Neighbours are mostly alike but for the last column: so what is in front of it is kept.
  void AppendRow(size_t index, std::string& out) {
    const HistRow& row = hist_.rows()[index];
    if (!SameStart(row)) {
      start_.clear();
      AppendWeights(index, start_);
      for (size_t i = 0; i < columns_.size(); ++i) {
        start_ += "  ";
        if (i + 1 != columns_.size()) AppendCell(columns_[i], row, false, start_);
      }
      started_ = &row;
    }
    out += start_;
    if (!columns_.empty()) AppendCell(columns_.back(), row, true, out);
    out += '\n';
  }

 private:
  struct Column {
    SortKey key;
    size_t width;
  };

  // Text that many rows have in common.
  struct Percent {
    uint64_t period = 0;
    uint64_t total = 0;
    std::string text;  // empty: not known yet
  };

  void AppendWeights(size_t index, std::string& out) {
    const HistRow& row = hist_.rows()[index];
    const std::span<const EventWeights> members = hist_.MembersOf(index);
    const auto percents = [&](const Weight& leader, Weight EventWeights::*weight) {
      AppendWeight(leader, hist_.total(), out.append("  "));
      for (size_t i = 0; i < members.size(); ++i) {
        AppendWeight(members[i].*weight, hist_.member_totals()[i], out);
      }
    };
    if (hist_.options().children) percents(row.children, &EventWeights::children);
    percents(row.self, &EventWeights::self);
    if (!options_.show_samples) return;
    AppendNumber(row.self.count, kSamplesWidth, out.append("  "));
    for (const EventWeights& member : members) AppendNumber(member.self.count, kSamplesWidth, out);
  }

  // Whether all columns but the last one say the same as start_.
  bool SameStart(const HistRow& row) const {
    return only_last_is_of_function_ && started_ != nullptr && row.children == started_->children &&
           row.self == started_->self && row.thread == started_->thread &&
           row.cpu == started_->cpu && FunctionOf(row).dso == FunctionOf(*started_).dso;
  }

  void AppendWeight(const Weight& weight, const Weight& total, std::string& out) {
    Percent& known = percents_[weight.period * 0x9e3779b97f4a7c15 >> 56];
    if (known.text.empty() || known.period != weight.period || known.total != total.period) {
      known.period = weight.period;
      known.total = total.period;
      known.text.clear();
      AppendPercent(weight.period, total.period, kWeightWidth, known.text);
    }
    out += known.text;
  }

  void AppendCached(std::string_view text, size_t width, std::string& cell, std::string& out) {
    if (cell.empty()) AppendLeftAligned(text, width, cell);
    out += cell;
  }

  std::string_view CommOf(const HistRow& row) const {
    return profile_.text(profile_[row.thread].comm);
  }
  // What stands beside a thread's number, or its process's.
  std::string_view LastCommOf(const HistRow& row, SortKey key) const {
    const Thread& thread = profile_[row.thread];
    return profile_.text(key == SortKey::kTgid ? thread.process_comm : thread.last_comm);
  }
  const Function& FunctionOf(const HistRow& row) const { return hist_.functions()[row.function]; }

  void Widen(Column& column, const HistRow& row) const {
    const Function& function = FunctionOf(row);
    switch (column.key) {
      case SortKey::kPid:
      case SortKey::kTid:
      case SortKey::kTgid:
        column.width = std::max(column.width, LastCommOf(row, column.key).size() + kPidWidth + 1);
        return;
      case SortKey::kComm:
        column.width = std::max(column.width, CommOf(row).size());
        return;
      case SortKey::kDso:
        column.width = std::max(column.width, profile_.text(profile_[function.dso].name).size());
        if (!function.named()) column.width = std::max(column.width, kAddressWidth);
        return;
      case SortKey::kSymbol:
        // "[.] " and the name, or "[.] 0x" and the digits
        column.width =
            std::max(column.width, function.named() ? profile_.text(function.name).size() + 4
                                                    : kAddressWidth + 6);
        return;
      case SortKey::kCpu:
      case SortKey::kParallelism:
        return;
      case SortKey::kSrcline:
      case SortKey::kSrcfile:
        column.width = std::max(column.width, PositionText(row, column.key).size());
        return;
      case SortKey::kSymoff:
        column.width = std::max(column.width, PositionText(row, column.key).size() + 4);
        return;
      default:  // of branches alone
        return;
    }
  }

  std::string_view PositionText(const HistRow& row, SortKey key) const {
    const FunctionTable& functions = hist_.functions();
    return functions.positions()->Text(functions.PositionOf(row.function), key);
  }

  void AppendCell(const Column& column, const HistRow& row, bool last, std::string& out) {
    const Function& function = FunctionOf(row);
    switch (column.key) {
      case SortKey::kPid:
      case SortKey::kTid:
        AppendNumber(profile_[row.thread].tid, kPidWidth, out);
        out += ':';
        return AppendLeftAligned(LastCommOf(row, column.key), column.width - kPidWidth - 1, out);
      case SortKey::kTgid:
        AppendNumber(profile_[row.thread].pid, kPidWidth, out);
        out += ':';
        return AppendLeftAligned(LastCommOf(row, column.key), column.width - kPidWidth - 1, out);
      case SortKey::kComm:
        return AppendCached(CommOf(row), column.width,
                            comm_cells_[static_cast<uint32_t>(row.thread)], out);
      case SortKey::kDso:
        return AppendCached(profile_.text(profile_[function.dso].name), column.width,
                            dso_cells_[static_cast<uint32_t>(function.dso)], out);
      case SortKey::kSymbol: {
        const size_t start = out.size();
        AppendSymbol(profile_, function, out);
        const size_t printed = out.size() - start;
        if (!last && printed < column.width) out.append(column.width - printed, ' ');
        return;
      }
      case SortKey::kCpu:
        // Three digits, to which perf adds a sign where no CPU is known: "-001".
        absl::StrAppendFormat(&out, "%.3d", static_cast<int32_t>(row.cpu));
        return;
      case SortKey::kParallelism:
        return AppendRightAligned(
            row.parallelism == profile::kOthersRan ? "others" : absl::StrCat(row.parallelism),
            column.width, out);
      case SortKey::kSrcline:
      case SortKey::kSrcfile:
        return AppendLeftAligned(PositionText(row, column.key), column.width, out);
      case SortKey::kSymoff: {
        const std::string text = absl::StrFormat("[%c] ", LevelOf(function.mode)) +
                                 std::string(PositionText(row, column.key));
        return AppendLeftAligned(text, column.width, out);
      }
      default:  // of branches alone
        return;
    }
  }

  const Histogram& hist_;
  const Profile& profile_;
  const ReportOptions& options_;
  std::vector<std::pair<std::string_view, size_t>> weight_columns_;  // headings and widths
  std::vector<Column> columns_;
  std::vector<Percent> percents_;        // by a hash of the period
  std::vector<std::string> comm_cells_;  // by thread
  std::vector<std::string> dso_cells_;
  bool only_last_is_of_function_ = false;
  const HistRow* started_ = nullptr;  // the row that start_ is of
  std::string start_;
};

class Report {
 public:
  Report(const Profile& profile, const ReportOptions& options, TextSink sink)
      : profile_(profile),
        options_(options),
        functions_(profile, options.inlines, PositionKeysOf(options)),
        sink_(sink) {}

  void Write() {
    AppendElidedColumns();
    out_ += "#\n";
    absl::StrAppend(&out_, "# Total Lost Samples: ", profile_.losses.lost_samples, "\n#\n");
    AppendLosses();
    for (uint32_t i = 0; i < profile_.events.size(); ++i) {
      const std::vector<EventId> events = EventsInTableOf(EventId{i});
      if (!events.empty() && events.front() == EventId{i}) AppendTable(events);
    }
    Flush();
  }

 private:
  void AppendElidedColumns() {
    // In the order in which perf looks at its lists, whatever the columns' order.
    constexpr std::array<std::pair<SortKey, std::string_view>, 3> kLists = {
        {{SortKey::kDso, "dso"}, {SortKey::kComm, "comm"}, {SortKey::kSymbol, "symbol"}}};
    for (const auto& [key, title] : kLists) {
      const std::string* name = OnlyName(key, options_.filter);
      if (name == nullptr) continue;
      absl::StrAppend(&out_, "# ", View(title), ": ");
      AppendPrintable(*name, out_);
      out_ += '\n';
    }
  }

  // What else is missing from the samples; nothing where nothing is.
  void AppendLosses() {
    std::string line = profile::LossesText(profile_.losses);
    if (!line.empty()) line.insert(0, "# Losses: ");
    for (const std::string& warning : profile_.losses.warnings) {
      if (!line.empty()) line += '\n';
      line += "# Warning: ";
      AppendPrintable(warning, line);
    }
    if (!line.empty()) absl::StrAppend(&out_, line, "\n#\n");
    const std::string chains = ChainsLine(profile_.chains);
    if (!chains.empty()) absl::StrAppend(&out_, chains, "#\n");
  }

  const EventGroup* GroupOf(EventId event) const {
    const auto group = std::find_if(options_.groups.begin(), options_.groups.end(),
                                    [&](const EventGroup& group) { return group.Has(event); });
    return group == options_.groups.end() ? nullptr : &*group;
  }

  // Those with samples. Branches have a table of their own.
  std::vector<EventId> EventsInTableOf(EventId event) const {
    const EventGroup* group = options_.join_groups ? GroupOf(event) : nullptr;
    if (group == nullptr || profile_[event].branch_stacks) {
      return profile_[event].samples == 0 ? std::vector<EventId>() : std::vector{event};
    }
    std::vector<EventId> events;
    for (const EventId member : group->events) {
      const profile::Event& counted = profile_[member];
      if (counted.samples != 0 && !counted.branch_stacks) events.push_back(member);
    }
    return events;
  }

  void AppendTable(const std::vector<EventId>& events) {
    const EventId leader = events.front();
    if (profile_[leader].branch_stacks) {
      AppendSampleCount(events, profile_[leader].samples);
      AppendBranches(profile_, functions_, leader, options_, out_);
      out_ += "\n\n";
      return;
    }
    const Histogram hist(profile_, functions_, leader, SettledOptions(events),
                         std::span(events).subspan(1));
    // A latency is of the same samples.
    Weight total = options_.latency ? Weight() : hist.total();
    for (const Weight& member : hist.member_totals()) total += member;
    AppendSampleCount(options_.latency ? std::vector{events.back()} : events, total.count);
    absl::StrAppend(&out_, "# Event count (approx.): ", total.period, "\n",
                    NamesLine(profile_, leader), "#\n");
    AppendRows(hist);
    out_ += "\n\n";
  }

  // perf says "events" of whatever leads a group, in a table of its own too.
  void AppendSampleCount(const std::vector<EventId>& events, uint64_t samples) {
    const EventGroup* group = GroupOf(events.front());
    const bool leads = group != nullptr && group->events.size() > 1 &&
                       (events.size() > 1 || group->events.front() == events.front());
    const bool named = leads && options_.join_groups && !group->name.empty();
    absl::StrAppend(&out_, "# Samples: ", AbbreviatedCount(samples), " of event",
                    leads ? "s '" : " '");
    if (named) AppendPrintable(group->name + " { ", out_);
    std::string_view before;
    for (const EventId event : events) {
      AppendPrintable(profile_.text(profile_[event].name), out_.append(before));
      before = ", ";
    }
    absl::StrAppend(&out_, named ? " }" : "", "'\n");
  }

  CallGraphOptions SettledGraphOptions() const {
    CallGraphOptions options = options_.call_graph;
    options.threshold = options.threshold.value_or(
        options_.percent_limit > 0 ? options_.percent_limit : kDefaultThreshold);
    return options;
  }

  HistOptions SettledOptions(const std::vector<EventId>& events) const {
    const CallGraphOptions graph = SettledGraphOptions();
    const bool children = options_.children.value_or(true) &&
                          std::any_of(events.begin(), events.end(), [&](EventId event) {
                            return HasCallChains(profile_, event);
                          });
    const bool chains = HasCallChains(profile_, events.front());
    return {.sort = options_.sort,
            .children = children,
            .chains = chains && graph.type != CallGraphType::kNone,
            // Of a fractal graph the threshold is a share of the row.
            .chains_from = graph.type == CallGraphType::kFractal ? 0 : *graph.threshold,
            .order = graph.order.value_or(children ? ChainOrder::kCaller : ChainOrder::kCallee),
            .max_stack = options_.max_stack,
            .filter = options_.filter,
            .relative_percentages = options_.relative_percentages};
  }

  void AppendRows(const Histogram& hist) {
    Table table(hist, options_);
    table.AppendHeadings(out_);

    const CallGraphOptions graph_options = SettledGraphOptions();
    std::optional<CallGraph> graph;
    if (hist.options().chains) graph.emplace(hist, graph_options);

    const uint64_t total = hist.total().period;
    for (size_t i = 0; i < hist.rows().size(); ++i) {
      const HistRow& row = hist.rows()[i];
      const double percent = Percent(row.children.period, total);
      // Rows are in order of weight, and perf compares as floats.
      if (static_cast<float>(percent) < static_cast<float>(options_.percent_limit)) break;
      table.Prefetch(i);
      table.AppendRow(i, out_);
      if (i < hist.rows_with_chains()) {
        const ChainDrawing drawing{.total_period = total,
                                   .row_period = row.children.period,
                                   .skip_first_entry = options_.sort.front() == SortKey::kSymbol};
        DrawCallGraph(hist, graph_options, drawing, graph->Build(i), out_);
      }
      if (out_.size() >= kPiece) Flush();
    }
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

std::string FormatReport(const Profile& profile, const ReportOptions& options) {
  std::string text;
  WriteReport(profile, options, [&](std::string_view piece) { text.append(piece); });
  return text;
}

}  // namespace profiler::report

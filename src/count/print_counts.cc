#include "src/count/print_counts.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "src/base/percent.h"
#include "src/base/shown_text.h"
#include "src/count/metrics.h"
#include "src/count/spread.h"
#include "src/format/perf_event/attr.h"

namespace profiler::count {
namespace {

constexpr double kNanosecondsInMillisecond = 1e6;

// Returns the event's name for output with a cgroup column: "cs" instead of "cs in web".
std::string NameBesideCgroup(const events::FoundEvent& event) {
  const std::string suffix = absl::StrCat(" in ", event.cgroup);
  return std::string(absl::StripSuffix(event.name, suffix));
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

CountPrinter::CountPrinter(const std::vector<events::FoundEvent>& events,
                           const PrintOptions& options)
    : events_(events),
      options_(options),
      has_cgroups_(std::any_of(events.begin(), events.end(), [](const events::FoundEvent& event) {
        return !event.cgroup.empty();
      })) {}

// The contents of the output for one event in one row: sums and means over all runs.
struct CountPrinter::Line {
  std::optional<double> interval_end;  // end of the interval, in seconds since counting began
  const CountRow* row = nullptr;
  std::string event;
  std::string cgroup;
  std::string value;  // in `unit`, or "<not counted>"
  bool is_number = false;
  double number = 0;
  std::string unit;
  double margin = 0;  // margin of error, in percent of the value
  bool repeated = false;
  Count count;  // sum over all runs
  std::optional<Metric> metric;
};

CountPrinter::Line CountPrinter::LineOf(const StatResult& result,
                                        const std::vector<const CountTable*>& runs, size_t row,
                                        size_t event) const {
  const events::FoundEvent& counted = events_[event];
  const bool is_clock = IsClock(counted.attr);
  const double factor = is_clock ? 1 / kNanosecondsInMillisecond : counted.scale;
  const bool has_column = has_cgroups_ && options_.format != Format::kText;
  Line line{.row = &runs.front()->rows[row],
            .event = has_column ? NameBesideCgroup(counted) : counted.name,
            .cgroup = counted.cgroup,
            .unit = is_clock ? "msec" : counted.unit,
            .repeated = runs.size() > 1};
  if (result.excludes_kernel[event] && line.event.find(':') == std::string::npos) {
    line.event += ":u";
  }
  Spread values;
  std::optional<Metric> metric;
  Spread metrics;
  for (const CountTable* run : runs) {
    const Count& count = run->rows[row].counts[event];
    line.count += count;
    if (count.running == 0) continue;
    values.Add(count.scaled() * factor);
    metric = MetricOf(events_, run->rows[row], event, run->duration);
    if (metric) metrics.Add(metric->value);
  }
  if (metric && options_.metrics) line.metric = Metric{metrics.mean(), metric->unit};
  if (!result.supported[event]) {
    line.value = "<not supported>";
  } else if (values.count() == 0) {
    line.value = "<not counted>";
  } else {
    line.is_number = true;
    line.number = values.mean();
    const bool is_whole = factor == 1;
    line.value = absl::StrFormat("%.*f", is_whole ? 0 : 2, values.mean());
    if (values.mean() != 0) line.margin = 100 * values.margin() / values.mean();
  }
  return line;
}

void CountPrinter::ForEachLine(const StatResult& result, const std::vector<const CountTable*>& runs,
                               absl::FunctionRef<void(Line)> visit) const {
  for (size_t row = 0; row < runs.front()->rows.size(); ++row) {
    for (size_t event = 0; event < events_.size(); ++event) {
      visit(LineOf(result, runs, row, event));
    }
  }
}

std::string CountPrinter::Lines(const StatResult& result,
                                const std::vector<const CountTable*>& runs,
                                std::optional<double> interval_end) const {
  std::string out;
  ForEachLine(result, runs, [&](Line line) {
    line.interval_end = interval_end;
    switch (options_.format) {
      case Format::kText:
        return AppendText(line, out);
      case Format::kSeparated:
        return AppendSeparated(line, out);
      case Format::kPerfJson:
        return AppendPerfJson(line, out);
      case Format::kDocument:
        return;
    }
  });
  return out;
}

namespace {

// True for cores, sockets and nodes, which are printed with their number of CPUs.
bool ShowsPlaces(Aggregation aggregation) {
  return aggregation == Aggregation::kCore || aggregation == Aggregation::kSocket ||
         aggregation == Aggregation::kNode;
}

const char* KeyOf(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kCpu:
      return "cpu";
    case Aggregation::kCore:
      return "core";
    case Aggregation::kSocket:
      return "socket";
    case Aggregation::kNode:
      return "node";
    case Aggregation::kAll:
    case Aggregation::kThread:
      break;
  }
  return "thread";
}

}  // namespace

void CountPrinter::AppendText(const Line& line, std::string& out) const {
  std::string text;
  if (line.interval_end) absl::StrAppendFormat(&text, "%16.9f ", *line.interval_end);
  if (!line.row->name.empty()) {
    const bool threads = options_.aggregation == Aggregation::kThread;
    absl::StrAppendFormat(&text, threads ? "%16s " : "%-12s ", line.row->name);
  }
  if (ShowsPlaces(options_.aggregation)) absl::StrAppendFormat(&text, "%6d ", line.row->places);
  const bool grouped = line.is_number && options_.big_numbers;
  absl::StrAppendFormat(&text, "%18s %-4s %-32s", grouped ? Grouped(line.value) : line.value,
                        line.unit, line.event);
  if (line.metric) {
    absl::StrAppendFormat(&text, " # %8.3f %-24s", line.metric->value, line.metric->unit);
  }
  if (line.repeated && line.is_number) absl::StrAppendFormat(&text, "  ( +- %.2f%% )", line.margin);
  if (line.count.is_guess() && line.is_number) {
    absl::StrAppendFormat(&text, "  (%.2f%%)", Percent(line.count.running, line.count.enabled));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out += text + "\n";
}

void CountPrinter::AppendSeparated(const Line& line, std::string& out) const {
  const std::string& separator = options_.separator;
  if (line.interval_end) absl::StrAppendFormat(&out, "%.9f%s", *line.interval_end, separator);
  if (!line.row->name.empty()) absl::StrAppend(&out, line.row->name, separator);
  if (ShowsPlaces(options_.aggregation)) absl::StrAppend(&out, line.row->places, separator);
  absl::StrAppend(&out, line.value, separator, line.unit, separator, line.event, separator);
  if (has_cgroups_) absl::StrAppend(&out, line.cgroup, separator);
  if (line.repeated) absl::StrAppendFormat(&out, "%.2f%%%s", line.margin, separator);
  absl::StrAppendFormat(&out, "%d%s%.2f%s", line.count.running, separator,
                        Percent(line.count.running, line.count.enabled), separator);
  if (line.metric) {
    absl::StrAppendFormat(&out, "%.3f%s%s\n", line.metric->value, separator, line.metric->unit);
  } else {
    absl::StrAppend(&out, separator, "\n");
  }
}

void CountPrinter::AppendPerfJson(const Line& line, std::string& out) const {
  nlohmann::ordered_json object;
  if (line.interval_end) object["interval"] = *line.interval_end;
  if (!line.row->name.empty()) object[KeyOf(options_.aggregation)] = line.row->name;
  // perf 7.2 has this key; older versions of perf have "aggregate-number" instead.
  if (ShowsPlaces(options_.aggregation)) {
    object["counters"] = line.count.enabled == 0 ? 0 : line.row->places;
  }
  object["counter-value"] = line.value;
  object["unit"] = line.unit;
  object["event"] = line.event;
  if (has_cgroups_) object["cgroup"] = line.cgroup;
  if (line.repeated) object["variance"] = line.margin;
  object["event-runtime"] = line.count.running;
  object["pcnt-running"] = Percent(line.count.running, line.count.enabled);
  if (line.metric) {
    object["metric-value"] = absl::StrFormat("%f", line.metric->value);
    object["metric-unit"] = line.metric->unit;
  }
  // Names of events and threads may contain any bytes.
  out += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

json::Value CountPrinter::RowAsJson(const Line& line) const {
  json::Value row = {{"event", line.event}};
  if (!line.cgroup.empty()) row["cgroup"] = line.cgroup;
  if (!line.row->name.empty()) row[KeyOf(options_.aggregation)] = line.row->name;
  row["count"] = nullptr;
  row["state"] = line.value.substr(1, line.value.size() - 2);  // "not counted"
  if (line.is_number) {
    row["count"] = line.number;
    row["state"] = "counted";
  }
  row["unit"] = line.unit.empty() ? "count" : line.unit;
  if (line.is_number && line.repeated) {
    const double margin = line.number * line.margin / 100;
    row["low"] = line.number - margin;
    row["high"] = line.number + margin;
  }
  row["running"] = Percent(line.count.running, line.count.enabled) / 100;
  if (line.metric) row["metric"] = {{"value", line.metric->value}, {"unit", line.metric->unit}};
  return row;
}

json::Value CountPrinter::Rows(const StatResult& result,
                               const std::vector<const CountTable*>& runs) const {
  json::Value rows = json::Value::array();
  ForEachLine(result, runs, [&](const Line& line) { rows.push_back(RowAsJson(line)); });
  return rows;
}

std::string CountPrinter::IntervalHead() const {
  if (options_.format != Format::kText) return "";
  return "#           time             counts unit events\n";
}

std::string CountPrinter::Interval(const StatResult& so_far, const CountTable& interval) const {
  if (options_.format != Format::kDocument) {
    return Lines(so_far, {&interval}, Seconds(interval.end));
  }
  json::Value document = json::Document("stat");
  document["interval_end"] = Seconds(interval.end);
  document["seconds"] = Seconds(interval.duration);
  document["rows"] = Rows(so_far, {&interval});
  return json::Line(document);
}

std::string CountPrinter::Times(const StatResult& result) const {
  Spread elapsed, user, system;
  for (const StatRun& run : result.runs) {
    elapsed.Add(Seconds(run.total.duration));
    user.Add(Seconds(run.user_time));
    system.Add(Seconds(run.system_time));
  }
  if (result.runs.size() > 1) {
    return absl::StrFormat("%18.9f +- %.9f seconds time elapsed  ( +- %.2f%% )\n\n", elapsed.mean(),
                           elapsed.margin(), 100 * elapsed.margin() / elapsed.mean());
  }
  std::string text = absl::StrFormat("%18.9f seconds time elapsed\n\n", elapsed.mean());
  if (result.counts_command) {
    absl::StrAppendFormat(&text, "%18.9f seconds user\n%18.9f seconds sys\n\n", user.mean(),
                          system.mean());
  }
  return text;
}

std::string CountPrinter::Result(const StatResult& result, const std::string& target) const {
  std::vector<const CountTable*> runs;
  for (const StatRun& run : result.runs) runs.push_back(&run.total);
  if (options_.format == Format::kDocument) {
    json::Value document = json::Document("stat");
    document["target"] = target;
    document["runs"] = runs.size();
    Spread seconds;
    for (const CountTable* run : runs) seconds.Add(Seconds(run->duration));
    document["seconds"] = seconds.mean();
    document["rows"] = Rows(result, runs);
    return json::Text(document);
  }
  const std::string lines = Lines(result, runs, std::nullopt);
  if (options_.format != Format::kText) return lines;
  std::string head = absl::StrCat("\n Performance counter stats for ", target);
  if (runs.size() > 1) absl::StrAppend(&head, " (", runs.size(), " runs)");
  return absl::StrCat(head, ":\n\n", lines, "\n", Times(result));
}

}  // namespace profiler::count

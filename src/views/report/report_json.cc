#include "src/views/report/report_json.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/amount.h"
#include "src/base/percent.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist.h"
#include "src/views/report/hist_figures.h"
#include "src/views/report/resolved_options.h"

namespace profiler::report {

using json::Value;
using profile::EventId;
using profile::Profile;

namespace {

constexpr double kNanosecondsInSecond = 1e9;

const char* NameOf(profile::Mode mode) {
  switch (mode) {
    case profile::Mode::kUser:
      return "user";
    case profile::Mode::kKernel:
      return "kernel";
    case profile::Mode::kHypervisor:
      return "hypervisor";
    case profile::Mode::kGuestUser:
      return "guest user";
    case profile::Mode::kGuestKernel:
      return "guest kernel";
    case profile::Mode::kCut:
      return "cut";
    case profile::Mode::kUnknown:
      break;
  }
  return "unknown";
}

// Formats the rows of one event.
class JsonRows {
 public:
  JsonRows(const Histogram& hist, EventId event)
      : hist_(hist), profile_(hist.profile()), figures_(FiguresOf(hist, event)) {}

  bool has_intervals() const { return !figures_.rows.empty(); }
  double missing_part() const { return figures_.missing_part; }

  Value Row(size_t index) const {
    const HistRow& row = hist_.rows()[index];
    Value value = Value::object();
    for (const SortKey key : hist_.options().sort) AddKey(key, row, value);
    value["self"] = Weighed(row.self, index, &RowFigures::self);
    if (hist_.options().children) {
      value["total"] = Weighed(row.children, index, &RowFigures::children);
    }
    if (has_intervals() && figures_.rows[index].rank != 0) {
      value["rank"] = figures_.rows[index].rank;
    }
    return value;
  }

 private:
  Value Weighed(const Weight& weight, size_t index, ShareFigures RowFigures::*share) const {
    const auto amount = static_cast<double>(weight.period);
    Value value = json::Share(Percent(weight.period, hist_.total().period) / 100, amount);
    if (has_intervals()) {
      const ShareFigures& figures = figures_.rows[index].*share;
      value = json::Share(figures.share, figures.interval, amount);
    }
    value["samples"] = weight.count;
    return value;
  }

  // Adds a row's value of a sort key; null if the recording does not contain it.
  void AddKey(SortKey key, const HistRow& row, Value& value) const {
    const SortKeyEntry& entry = EntryOf(key);
    const Function& function = hist_.functions()[row.function];
    switch (entry.kind) {
      case KeyKind::kThread:
        return AddThread(entry.thread, profile_[row.thread], value);
      case KeyKind::kImage:
        value["dso"] = profile_.text(profile_[function.image].name);
        value["path"] = profile_.text(profile_[function.image].long_name);
        return;
      case KeyKind::kSymbol:
        return AddSymbol(function, value);
      case KeyKind::kPosition:
        value[std::string(entry.name)] = PositionOf(row, key);
        return;
      case KeyKind::kTraceField:
        value["fields"][std::string(profile_.text(profile_.trace_fields[TraceFieldIndex(key)]))] =
            ColumnValue(key, entry.kind, row);
        return;
      case KeyKind::kBranch:
        return;
      default:
        value[std::string(entry.name)] = ColumnValue(key, entry.kind, row);
        return;
    }
  }

  void AddThread(const ThreadValue& thread, const profile::Thread& of, Value& value) const {
    if (!thread.id_member.empty()) value[std::string(thread.id_member)] = thread.id(of);
    if (!thread.name_member.empty()) {
      value[std::string(thread.name_member)] = profile_.text(thread.name(of));
    }
  }

  // Returns the row's value of a column: costs and other numbers as numbers, texts as strings.
  Value ColumnValue(SortKey key, KeyKind kind, const HistRow& row) const {
    const HugeVector<uint32_t>& column = profile_.column(*DimensionOf(key));
    if (column.empty()) return nullptr;
    const uint32_t number = column[row.sample];
    switch (kind) {
      case KeyKind::kNumber:
      // Null for the part of an off-CPU time during which other threads ran (profile::kOthersRan).
      case KeyKind::kParallelism:
        return number == profile::kNoCpu ? Value(nullptr) : Value(number);
      case KeyKind::kTime: {
        const std::vector<uint64_t>& begins = profile_.quanta.begins;
        if (number >= begins.size()) return nullptr;
        return static_cast<double>(begins[number]) / kNanosecondsInSecond;
      }
      default:
        break;
    }
    if (number == 0) return nullptr;
    const std::string_view text = profile_.text(StringId{number});
    uint64_t cost = 0;
    const bool is_cost = (kind == KeyKind::kCost || kind == KeyKind::kCostOfAll) &&
                         absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &cost);
    if (!is_cost) return text;
    return kind == KeyKind::kCostOfAll ? cost * row.self.count : cost;
  }

  void AddSymbol(const Function& function, Value& value) const {
    if (function.named()) {
      value["symbol"] = profile_.text(function.name);
    } else {
      value["symbol"] = nullptr;
      value["address"] = absl::StrCat("0x", absl::Hex(function.address));
    }
    value["mode"] = NameOf(function.mode);
    if (function.inlined) value["inlined"] = true;
  }

  std::string_view PositionOf(const HistRow& row, SortKey key) const {
    const FunctionTable& functions = hist_.functions();
    return functions.positions()->Text(functions.PositionOf(row.function), key);
  }

  const Histogram& hist_;
  const Profile& profile_;
  const HistFigures figures_;
};

Value RowsOf(const Profile& profile, const FunctionTable& functions, EventId event,
             const ReportOptions& options) {
  HistOptions settled = ResolvedOptions(options, profile, std::span(&event, 1));
  settled.chains = false;
  const Histogram hist(profile, functions, event, settled);
  const JsonRows rows(hist, event);
  const std::string_view name = profile.text(profile[event].name);
  Value value = {{"event", name},
                 {"unit", options.by_access_cost ? "weight" : analysis::UnitOf(name)},
                 {"samples", hist.total().count},
                 {"amount", hist.total().period},
                 {"missing", rows.missing_part()},
                 {"intervals", rows.has_intervals()}};
  Value list = Value::array();
  const size_t most = options.most_rows == 0 ? hist.rows().size() : options.most_rows;
  for (size_t i = 0; i < hist.rows().size() && list.size() < most; ++i) {
    const double percent = Percent(hist.rows()[i].children.period, hist.total().period);
    if (percent < options.percent_limit || !hist.IsShown(i)) continue;
    list.push_back(rows.Row(i));
  }
  value["rows"] = std::move(list);
  return value;
}

}  // namespace

std::string ReportAsJson(const Profile& profile, const ReportOptions& options,
                         const json::RecordingFacts& recording) {
  const FunctionTable functions(profile, options.inlines, PositionKeysOf(options),
                                ImageNames::kPaths);
  Value document = json::Document("report");
  document["recording"] = json::Recording(recording);
  document["losses"] = json::Losses(profile.losses);
  document["chains"] = json::Chains(profile);
  document["events"] = Value::array();
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (profile.events[i].samples == 0) continue;
    document["events"].push_back(RowsOf(profile, functions, EventId{i}, options));
  }
  return json::Text(document);
}

}  // namespace profiler::report

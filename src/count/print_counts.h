// Prints counts as text, as separated values, as perf's JSON or as our JSON (docs/json.md).
//
//              0.86 msec task-clock                #    0.455 CPUs utilized     ( +- 3.32% )
//              (75.02%)
//                49      page-faults               #   56.863 K/sec
//   <not supported>      cycles
//
//   0.86,msec,task-clock,860000,100.00,0.455,CPUs utilized
//   {"counter-value" : "0.86", "unit" : "msec", "event" : "task-clock", …}
//
// The layouts are those of perf stat, so programs that parse its output also parse this. ± is the
// 95 % interval of the mean (spread.h); perf prints one standard error.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/count/stat_session.h"
#include "src/machine/events/find_events.h"
#include "src/views/json/document.h"

namespace profiler::count {

enum class Format { kText, kSeparated, kPerfJson, kDocument };

struct PrintOptions {
  Format format = Format::kText;
  std::string separator = ",";
  bool big_numbers = true;  // True if numbers have separators: 1,234,567.
  bool metrics = true;
  Aggregation aggregation = Aggregation::kAll;
};

class CountPrinter {
 public:
  // `events` and `options` must outlive the printer.
  CountPrinter(const std::vector<events::FoundEvent>& events, const PrintOptions& options);

  // Returns the heading above the first interval; empty unless the format is text.
  std::string IntervalHead() const;
  std::string Interval(const StatResult& so_far, const CountTable& interval) const;
  // Returns the whole output. `target` describes the counted target in words.
  std::string Result(const StatResult& result, const std::string& target) const;

 private:
  struct Line;

  void ForEachLine(const StatResult& result, const std::vector<const CountTable*>& runs,
                   absl::FunctionRef<void(Line)> visit) const;
  std::string Lines(const StatResult& result, const std::vector<const CountTable*>& runs,
                    std::optional<double> interval_end) const;
  Line LineOf(const StatResult& result, const std::vector<const CountTable*>& runs, size_t row,
              size_t event) const;
  void AppendText(const Line& line, std::string& out) const;
  void AppendSeparated(const Line& line, std::string& out) const;
  void AppendPerfJson(const Line& line, std::string& out) const;
  json::Value Rows(const StatResult& result, const std::vector<const CountTable*>& runs) const;
  json::Value RowAsJson(const Line& line) const;
  std::string Times(const StatResult& result) const;

  const std::vector<events::FoundEvent>& events_;
  const PrintOptions& options_;
  const bool has_cgroups_;  // True if separated values and JSON have a column for the cgroup.
};

}  // namespace profiler::count

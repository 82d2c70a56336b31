#include "src/analysis/amount.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"
#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::analysis {

bool IsTime(std::string_view event) {
  // The last four are events of profiles from other programs (src/importers).
  constexpr std::array<std::string_view, 10> kTimes = {
      "cpu-clock",     "task-clock", kBlockedEvent, kPreemptedEvent, kRunningEvent,
      kWallClockEvent, "cpu",        "time",        "wall",          "delay"};
  const std::string_view name = event.substr(0, event.find(':'));
  return std::find(kTimes.begin(), kTimes.end(), name) != kTimes.end();
}

std::string_view UnitOf(std::string_view event) { return IsTime(event) ? "ns" : "count"; }

std::string AmountText(double amount, std::string_view event, bool sign) {
  constexpr double kNanosecondsInASecond = 1e9;
  if (!IsTime(event)) {
    return sign ? absl::StrFormat("%+.0f", amount) : absl::StrFormat("%.0f", amount);
  }
  const double seconds = amount / kNanosecondsInASecond;
  return sign ? absl::StrFormat("%+.3f s", seconds) : absl::StrFormat("%.3f s", seconds);
}

std::string PageSizeText(uint64_t bytes) {
  if (bytes == 0) return "N/A";
  constexpr std::string_view kUnits = "BKMG";
  size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes / 1024 > 1; ++unit) bytes /= 1024;
  return std::to_string(bytes) + kUnits[unit];
}

}  // namespace profiler::analysis

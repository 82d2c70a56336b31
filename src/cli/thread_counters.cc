#include "src/cli/thread_counters.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "src/perf_event/abi.h"
#include "src/perf_event/codec.h"
#include "src/perf_event/read_values.h"
#include "src/perf_event/records.h"

namespace profiler::cli {
namespace {

using Thread = std::pair<uint32_t, uint32_t>;                   // pid and tid
using Counts = std::map<Thread, std::map<uint32_t, uint64_t>>;  // and by event

// A thread may be read several times, and each time tells what came on top.
Counts CountsOf(perf_data::Recording& recording) {
  Counts counts;
  const auto take = [&](const perf_data::TimedRecord& timed) {
    if (timed.record.type() != perf_event::kRecordRead) return;
    if (timed.event >= recording.events().size()) return;
    const perf_event::RecordLayout& layout = recording.events()[timed.event].layout;
    perf_event::Read read;
    if (!Decode(timed.record, layout, &read)) return;
    const perf_event::ReadValues values(read.values, layout.read_format);
    for (size_t i = 0; i < values.size(); ++i) {
      counts[{read.pid, read.tid}][timed.event + static_cast<uint32_t>(i)] += values[i].value;
    }
  };
  // What stops the reading is told with the report.
  recording.ForEach(perf_data::Recording::Order::kStored, take).IgnoreError();
  return counts;
}

}  // namespace

std::string ThreadCountersText(perf_data::Recording& recording) {
  const Counts counts = CountsOf(recording);
  std::map<uint32_t, int> widths;  // of columns, by event
  int pid_width = 3, tid_width = 3;
  for (const auto& [thread, values] : counts) {
    pid_width = std::max(pid_width, static_cast<int>(std::to_string(thread.first).size()));
    tid_width = std::max(tid_width, static_cast<int>(std::to_string(thread.second).size()));
    for (const auto& [event, value] : values) {
      const size_t name =
          event < recording.events().size() ? recording.events()[event].name.size() : 0;
      const size_t width = std::max(name, std::to_string(value).size());
      widths[event] = std::max(widths[event], static_cast<int>(width));
    }
  }
  std::string text = absl::StrFormat("# %*s  %*s", pid_width, "PID", tid_width, "TID");
  for (const auto& [event, width] : widths) {
    const std::string name =
        event < recording.events().size() ? recording.events()[event].name : "";
    absl::StrAppendFormat(&text, "  %*s", width, name);
  }
  text += '\n';
  for (const auto& [thread, values] : counts) {
    absl::StrAppendFormat(&text, "  %*d  %*d", pid_width, thread.first, tid_width, thread.second);
    for (const auto& [event, width] : widths) {
      const auto value = values.find(event);
      absl::StrAppendFormat(&text, "  %*d", width, value == values.end() ? 0 : value->second);
    }
    text += '\n';
  }
  return text;
}

}  // namespace profiler::cli

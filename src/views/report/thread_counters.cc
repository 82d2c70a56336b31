#include "src/views/report/thread_counters.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/read_values.h"
#include "src/format/perf_event/records.h"

namespace profiler::report {
namespace {

// Returns the value of the event itself. Each member of a group has a READ record of its own, but
// each record contains the values of all members.
std::optional<uint64_t> OwnValue(const perf_event::ReadValues& values,
                                 const perf_data::EventDescription& event) {
  if ((event.attr.read_format & perf_event::kFormatGroup) == 0) {
    if (values.size() == 0) return std::nullopt;
    return values[0].value;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const perf_event::CounterValue counter = values[i];
    if (std::find(event.ids.begin(), event.ids.end(), counter.id) != event.ids.end()) {
      return counter.value;
    }
  }
  return std::nullopt;
}

}  // namespace

void ThreadCounters::Take(const perf_data::Recording& recording,
                          const perf_data::TimedRecord& timed) {
  if (timed.record.type() != perf_event::kRecordRead) return;
  if (timed.event >= recording.events().size()) return;
  const perf_data::EventDescription& event = recording.events()[timed.event];
  perf_event::Read read;
  if (!Decode(timed.record, event.layout, &read)) return;
  const auto value = OwnValue({read.values, event.attr.read_format}, event);
  if (value) counts_[{read.pid, read.tid}][timed.event] += *value;
}

std::string ThreadCounters::Text(const perf_data::Recording& recording) const {
  std::map<uint32_t, int> widths;  // width of each event's column, keyed by event
  int pid_width = 3, tid_width = 3;
  const auto widen = [](int& width, const std::string& text) {
    width = std::max(width, static_cast<int>(text.size()));
  };
  for (const auto& [thread, values] : counts_) {
    widen(pid_width, std::to_string(thread.first));
    widen(tid_width, std::to_string(thread.second));
    for (const auto& [event, value] : values) {
      widen(widths[event], recording.events()[event].name);
      widen(widths[event], std::to_string(value));
    }
  }
  std::string text = absl::StrFormat("# %*s  %*s", pid_width, "PID", tid_width, "TID");
  for (const auto& [event, width] : widths) {
    absl::StrAppendFormat(&text, "  %*s", width, recording.events()[event].name);
  }
  text += '\n';
  for (const auto& [thread, values] : counts_) {
    absl::StrAppendFormat(&text, "  %*d  %*d", pid_width, thread.first, tid_width, thread.second);
    for (const auto& [event, width] : widths) {
      const auto value = values.find(event);
      absl::StrAppendFormat(&text, "  %*d", width, value == values.end() ? 0 : value->second);
    }
    text += '\n';
  }
  return text;
}

}  // namespace profiler::report

#include "src/machine/events/trace_printer.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_event/tracing_data_reader.h"
#include "src/machine/events/trace_values.h"

namespace profiler::events {
namespace {

constexpr size_t kCommonBytes = 8;  // of each record
constexpr uint8_t kOwnLongBytes = 8;

// True if the id of a record's event is where IdOf reads it.
bool HasUsualId(const TraceEvent& event) {
  if (event.fields.empty()) return false;
  const TraceEventField& first = event.fields.front();
  return first.name == "common_type" && first.offset == 0 && first.size == sizeof(uint16_t);
}

// True for the function tracer's own formats, which libtraceevent treats specially.
bool IsOfFunctionTracer(std::string_view system) { return system.empty() || system == "ftrace"; }

uint32_t IdOf(std::span<const std::byte> record) {
  return static_cast<uint32_t>(NumberAt(record, 0, sizeof(uint16_t)));
}

}  // namespace

absl::StatusOr<TracePrinter> TracePrinter::Parse(std::string_view section) {
  TracePrinter printer;
  perf_event::TracingDataReader in(section);
  const bool is_native = in.is_big_endian() == (std::endian::native == std::endian::big) &&
                         in.long_bytes() == kOwnLongBytes;
  while (const std::optional<perf_event::TraceFormat> format = in.Next()) {
    if (is_native) {
      printer.Add(format->system, format->text);
    } else {
      printer.is_complete_ = false;
    }
  }
  in.PrintkFormats();
  if (!in.ok()) return TracingDataIsCut();
  return printer;
}

void TracePrinter::Add(std::string_view system, std::string_view format) {
  auto print = TracePrint::Compile(ReadableFormat(format));
  if (!print || IsOfFunctionTracer(system) || !HasUsualId(print->event())) {
    is_complete_ = false;
    return;
  }
  const uint32_t id = print->event().id;
  std::string full_name = absl::StrCat(View(system), ":", print->event().name);
  const bool is_new = events_.try_emplace(id, std::move(full_name), *std::move(print)).second;
  if (is_new) return;
  // libtraceevent chooses between formats with the same id.
  events_.erase(id);
  is_complete_ = false;
}

bool TracePrinter::AppendParts(std::span<const std::byte> record, const TraceParts& parts,
                               std::string* out) const {
  const Event* event = nullptr;
  if (record.size() >= kCommonBytes) {
    const auto found = events_.find(IdOf(record));
    if (found != events_.end()) event = &found->second;
    if (event == nullptr && !is_complete_) return false;
  }
  if (parts.fields.empty()) return event == nullptr || event->print.Append(record, out);
  std::string text, values;
  if (event != nullptr && !event->print.Append(record, &text)) return false;
  for (const TraceField& asked : parts.fields) {
    const size_t start = values.size();
    const bool is_asked =
        event != nullptr && (asked.event.empty() || asked.event == event->full_name);
    if (is_asked && !event->print.AppendField(asked.name, text, record, &values)) return false;
    std::replace(values.begin() + static_cast<std::ptrdiff_t>(start), values.end(), parts.end, ' ');
    values += parts.end;
  }
  if (parts.text) *out += text;
  *out += parts.end;
  *out += values;
  return true;
}

}  // namespace profiler::events

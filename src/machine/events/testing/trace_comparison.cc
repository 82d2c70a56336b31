#include "src/machine/events/testing/trace_comparison.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/tracing_data_reader.h"
#include "src/machine/events/trace_event.h"
#include "src/machine/events/trace_formats.h"
#include "src/machine/events/trace_printer.h"

namespace profiler::events {
namespace {

class RecordMaker {
 public:
  explicit RecordMaker(uint32_t seed) : random_(seed) {}

  std::string Make(const TraceEvent& event) {
    size_t end = 8;
    for (const TraceEventField& field : event.fields) {
      end = std::max<size_t>(end, field.offset + field.size);
    }
    const uint32_t kind = Below(6);
    std::string record(end, '\0');
    for (char& byte : record) byte = AnyByte(kind);
    for (const TraceEventField& field : event.fields) {
      if (field.is_dynamic) {
        PointAtText(field, &record);
      } else if (kind <= 1 && !field.is_array && field.size <= 8) {
        const uint64_t number = kind == 0 ? Below(40) : uint64_t{1} << Below(64);
        std::memcpy(record.data() + field.offset, &number, field.size);
      } else if (field.is_string && field.size != 0) {
        FillText(&record, field.offset, field.size);
      }
    }
    const auto id = static_cast<uint16_t>(event.id);
    std::memcpy(record.data(), &id, sizeof(id));
    if (Below(20) == 0) record.resize(Below(static_cast<uint32_t>(record.size())));
    return record;
  }

 private:
  uint32_t Below(uint32_t end) { return end == 0 ? 0 : random_() % end; }
  char AnyByte(uint32_t kind) {
    if (kind == 2) return '\0';
    if (kind == 3) return '\xff';
    return static_cast<char>(Below(256));
  }
  void FillText(std::string* record, size_t at, size_t size) {
    const size_t length = Below(static_cast<uint32_t>(size));
    for (size_t i = 0; i < size; ++i) {
      (*record)[at + i] = i < length ? static_cast<char>(' ' + Below(95)) : '\0';
    }
  }
  // Appends data, and makes the field point to it; rarely, elsewhere.
  void PointAtText(const TraceEventField& field, std::string* record) {
    const uint32_t size = Below(4) == 0 ? 0 : 1 + Below(24);
    const size_t start = record->size();
    record->resize(start + size);
    FillText(record, start, size);
    const size_t base = field.is_relative ? field.offset + field.size : 0;
    auto where = static_cast<uint32_t>(start - base) | size << 16;
    if (Below(50) == 0) where = random_();
    std::memcpy(record->data() + field.offset, &where, sizeof(where));
  }

  std::mt19937 random_;
};

}  // namespace

TraceComparison CompareTracePrints(std::string_view section, uint32_t count, uint32_t seed) {
  TraceComparison comparison;
  const auto theirs = TraceFormats::Parse(section);
  const auto ours = TracePrinter::Parse(section);
  if (!theirs.ok() || !ours.ok()) return comparison;
  RecordMaker maker(seed);
  perf_event::TracingDataReader in(section);
  while (const auto format = in.Next()) {
    const auto event = ParseTraceEvent(ReadableFormat(format->text));
    if (!event) continue;
    ++comparison.events;
    const std::string name = absl::StrCat(View(format->system), ":", event->name);
    const size_t before = comparison.records;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string record = maker.Make(*event);
      std::string printed, expected;
      if (!ours->AppendParts(BytesOfText(record), {}, &printed)) continue;
      theirs->Append(BytesOfText(record), 0, &expected);
      ++comparison.records;
      if (printed == expected) continue;
      comparison.differences.push_back(
          absl::StrCat(name, ": ", Printable(printed), " | ", Printable(expected)));
      break;
    }
    if (comparison.records == before) comparison.left.push_back(name);
  }
  return comparison;
}

}  // namespace profiler::events

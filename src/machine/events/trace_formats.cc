#include "src/machine/events/trace_formats.h"

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include <algorithm>
#include <optional>

#include "src/format/perf_event/tracing_data_reader.h"
#include "src/machine/events/function_marks.h"
#include "src/machine/events/trace_event.h"
#include "src/machine/events/trace_values.h"

namespace profiler::events {
namespace {

bool IsInside(uint64_t offset, uint64_t size, std::span<const std::byte> raw) {
  return offset <= raw.size() && size <= raw.size() - offset;
}

// True if all fields lie within the record, because libtraceevent does not check that.
bool IsWhole(const tep_event& event, std::span<const std::byte> raw) {
  for (const tep_format_field* list : {event.format.common_fields, event.format.fields}) {
    for (const tep_format_field* field = list; field != nullptr; field = field->next) {
      if (field->offset < 0 || field->size < 0) return false;
      const auto offset = static_cast<uint64_t>(field->offset);
      if (!IsInside(offset, static_cast<uint64_t>(field->size), raw)) return false;
      if ((field->flags & TEP_FIELD_IS_DYNAMIC) == 0) continue;
      // The data's position: 16 bits each of size and offset, relative to the record's start or to
      // the end of this field.
      if (field->size != sizeof(uint32_t)) return false;
      const auto where = static_cast<uint32_t>(tep_read_number(
          event.tep, raw.data() + field->offset, static_cast<int>(sizeof(uint32_t))));
      const bool is_relative = (field->flags & TEP_FIELD_IS_RELATIVE) != 0;
      const uint64_t start =
          (where & 0xffff) + (is_relative ? offset + static_cast<uint64_t>(field->size) : 0);
      const uint64_t size = where >> 16;
      if (!IsInside(start, size, raw)) return false;
      const bool is_text = (field->flags & TEP_FIELD_IS_STRING) != 0;
      if (is_text && size != 0 && raw[start + size - 1] != std::byte{0}) return false;
    }
  }
  return true;
}

// Returns a mark instead of a name, because kernel symbols come from the recording and change while
// it is read.
char* MarkFunction(void* room, unsigned long long* address, char**) {
  std::string& mark = *static_cast<std::string*>(room);
  mark.clear();
  AppendFunctionMark(*address, /*with_offset=*/false, &mark);
  return mark.data();
}

}  // namespace

absl::Status TracingDataIsCut() {
  return absl::DataLossError("TRACING_DATA: cut short, so tracepoints are shown without fields");
}

void TraceFormats::Free::operator()(tep_handle* handle) const {
  tep_reset_function_resolver(handle);
  tep_free(handle);
}

absl::StatusOr<TraceFormats> TraceFormats::Parse(std::string_view section) {
  tep_set_loglevel(TEP_LOG_NONE);
  TraceFormats formats(tep_alloc());
  tep_handle* const handle = formats.handle_.get();
  if (handle == nullptr) return absl::ResourceExhaustedError("no memory for tracepoints");
  formats.function_mark_ = std::make_unique<std::string>();
  tep_set_function_resolver(handle, MarkFunction, formats.function_mark_.get());
  perf_event::TracingDataReader in(section);
  tep_set_file_bigendian(handle, in.is_big_endian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
  tep_set_long_size(handle, in.long_bytes());
  tep_set_page_size(handle, static_cast<int>(in.page_bytes()));
  while (const std::optional<perf_event::TraceFormat> format = in.Next()) {
    // On failure, libtraceevent ignores the format.
    const std::string readable = ReadableFormat(format->text);
    const std::string system(format->system.empty() ? "ftrace" : format->system);
    tep_parse_event(handle, readable.data(), readable.size(), system.c_str());
  }
  const std::string printk(in.PrintkFormats());
  if (!in.ok()) return TracingDataIsCut();
  if (!printk.empty()) tep_parse_printk_formats(handle, printk.c_str());
  return formats;
}

namespace {

// Returns the text that `print` writes.
template <class Print>
std::string Printed(Print print) {
  trace_seq text;
  trace_seq_init(&text);
  print(&text);
  trace_seq_terminate(&text);
  std::string printed(text.state == TRACE_SEQ__GOOD ? text.buffer : "");
  trace_seq_destroy(&text);
  return printed;
}

tep_record RecordOf(std::span<const std::byte> raw, uint32_t cpu) {
  tep_record record{};
  record.cpu = static_cast<int>(cpu);
  record.size = static_cast<int>(raw.size());
  // libtraceevent only reads the data.
  record.data = const_cast<std::byte*>(raw.data());
  return record;
}

std::string TextOfRecord(tep_handle* handle, tep_record& record) {
  return Printed(
      [&](trace_seq* text) { tep_print_event(handle, text, &record, "%s", TEP_PRINT_INFO); });
}

std::string FullName(const tep_event& event) {
  return std::string(event.system) + ':' + event.name;
}

const tep_format_field* FieldNamed(const tep_event& event, const std::string& name) {
  for (const tep_format_field* field = event.format.fields; field != nullptr; field = field->next) {
    if (name == field->name) return field;
  }
  return nullptr;
}

// Returns a field's value as text. Like perf, takes a number from the text of the record
// ("prev_state=R") if it is there. Does not take strings from that text, because a blank in a
// string would end the value.
std::string TextOfField(const tep_format_field& field, const std::string& record_text,
                        std::span<const std::byte> raw) {
  if ((field.flags & TEP_FIELD_IS_STRING) == 0) {
    if (const auto value = ValueInText(field.name, record_text)) return std::string(*value);
  }
  return Printed([&](trace_seq* text) {
    tep_print_field(text, const_cast<std::byte*>(raw.data()),
                    const_cast<tep_format_field*>(&field));
  });
}

// Returns the record's event; null if its format is unknown or the record is too short.
const tep_event* EventOf(tep_handle* handle, tep_record& record, std::span<const std::byte> raw) {
  constexpr size_t kCommonFields = 8;
  if (raw.size() < kCommonFields) return nullptr;
  const tep_event* const event = tep_find_event_by_record(handle, &record);
  return event != nullptr && IsWhole(*event, raw) ? event : nullptr;
}

}  // namespace

void TraceFormats::Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) const {
  tep_record record = RecordOf(raw, cpu);
  if (EventOf(handle_.get(), record, raw) != nullptr) *out += TextOfRecord(handle_.get(), record);
}

void TraceFormats::AppendParts(std::span<const std::byte> raw, uint32_t cpu,
                               const TraceParts& parts, std::string* out) const {
  if (parts.fields.empty()) return Append(raw, cpu, out);
  tep_record record = RecordOf(raw, cpu);
  const tep_event* const event = EventOf(handle_.get(), record, raw);
  const std::string text = event == nullptr ? "" : TextOfRecord(handle_.get(), record);
  if (parts.text) *out += text;
  *out += parts.end;
  for (const TraceField& asked : parts.fields) {
    const bool is_asked =
        event != nullptr && (asked.event.empty() || asked.event == FullName(*event));
    if (const auto* field = is_asked ? FieldNamed(*event, asked.name) : nullptr) {
      std::string value = TextOfField(*field, text, raw);
      std::replace(value.begin(), value.end(), parts.end, ' ');
      *out += value;
    }
    *out += parts.end;
  }
}

std::vector<EventFields> TraceFormats::Fields() const {
  std::vector<EventFields> all;
  const int count = tep_get_events_count(handle_.get());
  tep_event* const* const events = tep_list_events(handle_.get(), TEP_EVENT_SORT_SYSTEM);
  for (int i = 0; events != nullptr && i < count; ++i) {
    if (std::string_view(events[i]->system) == "ftrace") continue;
    EventFields& event = all.emplace_back();
    event.event = FullName(*events[i]);
    for (const tep_format_field* field = events[i]->format.fields; field != nullptr;
         field = field->next) {
      event.fields.emplace_back(field->name);
    }
  }
  return all;
}

}  // namespace profiler::events

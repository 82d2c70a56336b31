#include "src/format/perf_data/read/event_table.h"

#include <utility>

#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/tracepoint_names.h"
#include "src/format/perf_event/event_name.h"

namespace profiler::perf_data {

void EventTable::Add(const perf_event::Attr& attr, std::string name, std::vector<uint64_t> ids) {
  if (events_.size() == kMostEvents) {
    ++left_out_;
    return;
  }
  const auto index = static_cast<uint32_t>(events_.size());
  for (uint64_t id : ids) by_id_.try_emplace(id, index);
  EventDescription& event = events_.emplace_back();
  event.attr = attr;
  event.layout = perf_event::RecordLayout(attr);
  event.ids = std::move(ids);
  event.name = name.empty() ? perf_event::EventName(attr) : std::move(name);
  const perf_event::RecordLayout& first = events_.front().layout;
  same_time_offsets_ &= event.layout.sample_time_offset == first.sample_time_offset &&
                        event.layout.trailer_time_offset == first.trailer_time_offset;
}

void EventTable::Rename(uint64_t id, std::string name) {
  if (events_.empty()) return;
  const size_t index = FindId(id);
  events_[index < events_.size() ? index : 0].name = std::move(name);
}

void EventTable::NameByType(uint64_t config, const std::string& name) {
  if (name.empty()) return;
  const size_t colon = name.find(':');
  // "cycles:u" is no tracepoint.
  const bool generic = perf_event::FindKnownEvent(name.substr(0, colon)).has_value();
  for (EventDescription& event : events_) {
    if (event.attr.config != config || generic) continue;
    const bool tracepoint = event.attr.type == perf_event::kTypeTracepoint;
    const bool other = event.attr.type > perf_event::kTypeBreakpoint;  // an event of a PMU
    if (tracepoint ? colon != std::string::npos : other) event.name = name;
  }
}

void EventTable::NameByTracingData(std::string_view section) {
  const absl::flat_hash_map<uint64_t, std::string> names = TracepointNames(section);
  for (EventDescription& event : events_) {
    if (event.attr.type != perf_event::kTypeTracepoint) continue;
    const auto it = names.find(event.attr.config);
    if (it != names.end() && event.name == perf_event::EventName(event.attr)) {
      event.name = it->second;
    }
  }
}

void EventTable::NameByTypes(std::span<const std::byte> table) {
  FieldReader types(table, swapped_);
  while (types.remaining() >= kEventTypeSize) {
    const uint64_t config = types.U64();
    const std::string_view name = TextOf(types.Bytes(kEventTypeNameSize));
    NameByType(config, std::string(name.substr(0, name.find('\0'))));
  }
}

void EventTable::NameByDescriptions(const std::vector<EventDesc>& descriptions) {
  for (size_t i = 0; i < descriptions.size(); ++i) {
    const EventDesc& description = descriptions[i];
    size_t event = events_.size();
    if (!description.ids.empty()) event = FindId(description.ids.front());
    if (event == events_.size()) event = i;
    if (event < events_.size() && !description.name.empty()) RenameEvent(event, description.name);
  }
}

bool EventTable::ThreadOf(const StoredRecord& record, uint32_t* pid, uint32_t* tid) {
  if (events_.empty() || record.header.type >= perf_event::kRecordUserFirst) return false;
  const perf_event::RecordLayout& layout = events_[EventOf(record)].layout;
  if ((layout.sample_type & perf_event::kSampleTid) == 0) return false;
  const int in_sample = layout.sample_tid_offset;
  // TID is the first field of a sample_id.
  const int from_end = static_cast<int>(layout.trailer_size);
  const bool sample = record.header.type == perf_event::kRecordSample;
  if (!sample && (from_end == 0 || from_end > record.header.size)) return false;
  *pid = FieldAt<uint32_t>(record, in_sample, from_end);
  *tid = FieldAt<uint32_t>(record, in_sample + 4, from_end - 4);
  return true;
}

size_t EventTable::FindId(uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? events_.size() : it->second;
}

// Returns the record's id; 0 if it has none. The id has the same position in the records of all
// events. IDENTIFIER exists for this purpose, and without IDENTIFIER perf writes only events with
// the same layout.
uint64_t EventTable::IdOf(const StoredRecord& record) const {
  const perf_event::RecordLayout& layout = events_.front().layout;
  return FieldAt<uint64_t>(record, layout.sample_id_offset, layout.trailer_id_offset);
}

uint32_t EventTable::EventAmongSeveral(const StoredRecord& record) {
  const uint64_t id = IdOf(record);
  if (id == 0) return 0;
  if (id == last_id_) return last_event_;
  const size_t event = FindId(id);
  if (event == events_.size()) {
    ++unknown_ids_;
    return 0;
  }
  last_id_ = id;
  return last_event_ = static_cast<uint32_t>(event);
}

}  // namespace profiler::perf_data

// Lists the events of a recording, and finds the event of a record.
//
// All functions take records in the file's byte order; only StoredRecord::header is native.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_data {

// True if a record has this time. perf writes 0 or all ones for "no time".
inline bool IsTime(uint64_t time) { return time != 0 && time != UINT64_MAX; }

// A whole record as it is stored in the file, and a copy of its header in native byte order.
struct StoredRecord {
  const std::byte* data = nullptr;
  perf_event::RecordHeader header;
};

class EventTable {
 public:
  // `swapped`: the recording is in the other byte order.
  explicit EventTable(bool swapped) : swapped_(swapped) {}

  // Adds an event. An empty `name` is replaced by a name made from `attr`. If there are kMostEvents
  // events, only increments left_out().
  void Add(const perf_event::Attr& attr, std::string name, std::vector<uint64_t> ids);
  // Gives `name` to the event that has `id`, or to event 0 if no event has it.
  void Rename(uint64_t id, std::string name);
  void RenameEvent(size_t event, std::string name) { events_[event].name = std::move(name); }
  // Names events by an event type, which old recordings have. All events with this config get the
  // name, if the name fits their type: a tracepoint needs a name like "system:name", an event of a
  // PMU takes any name. Generic events keep the name made from their attr, because this name
  // includes their modifiers.
  void NameByType(uint64_t config, const std::string& name);

  // Names events from a table of event types, in the file's byte order.
  void NameByTypes(std::span<const std::byte> table);
  // Names tracepoints that have no name yet, from the section TRACING_DATA.
  void NameByTracingData(std::string_view section);
  // Takes the names in EVENT_DESC. Finds the event of a description by its ids, or by its index if
  // the ids are missing or unknown.
  void NameByDescriptions(const std::vector<EventDesc>& descriptions);

  const std::vector<EventDescription>& events() const { return events_; }
  // Returns the index of the event that has `id`; events().size() if none has it.
  size_t FindId(uint64_t id) const;

  // Returns the index of the record's event. Returns 0 if the record has no id (perf's own and
  // synthesized records). If no event has the record's id, returns 0 and increments unknown_ids().
  uint32_t EventOf(const StoredRecord& record) {
    return events_.size() <= 1 ? 0 : EventAmongSeveral(record);
  }
  uint64_t unknown_ids() const { return unknown_ids_; }
  uint64_t left_out() const { return left_out_; }

  // Finds the thread of a kernel record: in a sample by its TID, otherwise by its sample_id.
  // Returns false if the record has none.
  bool ThreadOf(const StoredRecord& record, uint32_t* pid, uint32_t* tid);

  // Returns the record's time; 0 if it has none.
  uint64_t TimeOf(const StoredRecord& record) {
    if (events_.empty()) return 0;
    const perf_event::RecordLayout& layout =
        events_[same_time_offsets_ ? 0 : EventOf(record)].layout;
    return FieldAt<uint64_t>(record, layout.sample_time_offset, layout.trailer_time_offset);
  }

 private:
  uint32_t EventAmongSeveral(const StoredRecord& record);
  uint64_t IdOf(const StoredRecord& record) const;

  // Returns a number at `sample_offset` from the start of a sample, or at `trailer_offset` before
  // the end of any other kernel record; 0 if the record lacks it.
  template <class T>
  T FieldAt(const StoredRecord& record, int sample_offset, int trailer_offset) const {
    int offset = -1;
    if (record.header.type == perf_event::kRecordSample) {
      offset = sample_offset;
    } else if (record.header.type < perf_event::kRecordUserFirst && trailer_offset >= 0) {
      offset = record.header.size - trailer_offset;
    }
    constexpr int kHeaderSize = sizeof(perf_event::RecordHeader);
    if (offset < kHeaderSize || offset + static_cast<int>(sizeof(T)) > record.header.size) {
      return 0;
    }
    T value;
    std::memcpy(&value, record.data + offset, sizeof(value));
    return swapped_ ? SwapBytes(value) : value;
  }

  bool swapped_;
  std::vector<EventDescription> events_;
  absl::flat_hash_map<uint64_t, uint32_t> by_id_;
  bool same_time_offsets_ = true;
  // The last known id that a record had, and its event; 0 if there was none.
  uint64_t last_id_ = 0;
  uint32_t last_event_ = 0;
  uint64_t unknown_ids_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace profiler::perf_data

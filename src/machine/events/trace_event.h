// Parses the format file of a tracepoint.
//
//   name: sched_wakeup
//   ID: 331
//   format:
//           field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//           …
//           field:char comm[16];               offset:8;  size:16; signed:0;
//           field:pid_t pid;                   offset:24; size:4;  signed:1;
//
//   print fmt: "comm=%s pid=%d", REC->comm, REC->pid
//
// It accepts the formats that kernels write, and reads them as libtraceevent does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::events {

// A field of the records of an event.
struct TraceEventField {
  std::string name;
  uint32_t offset = 0;        // bytes
  uint32_t size = 0;          // bytes
  uint32_t element_size = 0;  // bytes of one element of an array; 0: unknown
  bool is_array = false;
  bool is_string = false;    // True for arrays of bytes.
  bool is_dynamic = false;   // True if the field holds the position of the data in the record.
  bool is_relative = false;  // True if that position counts from the end of the field.
  bool is_pointer = false;
  bool is_long = false;
  bool is_signed = false;
};

struct TraceEvent {
  std::string name;
  uint32_t id = 0;
  std::vector<TraceEventField> fields;  // the fields that all events have, then the event's own
  size_t common_fields = 0;             // number of the former
  std::string format;                   // text between the quotes, with its escapes
  std::string arguments;                // text after the quotes and the comma; may be empty

  // Returns the index of a field, or nullopt. Names of common fields come first.
  std::optional<uint32_t> Find(std::string_view field) const;
};

// Parses a format file. Returns nullopt if it is not of the form above.
std::optional<TraceEvent> ParseTraceEvent(std::string_view text);

// Rewrites a format for libtraceevent before 1.8, which rejects literals with tabs and does not
// support %pB (like %pS, but for the address of a call). ParseTraceEvent requires the same.
std::string ReadableFormat(std::string_view format);

}  // namespace profiler::events

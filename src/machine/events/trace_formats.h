// Formats the records of tracepoints as text, as the kernel would print them, with the formats that
// a recording contains (tracing_data.h).
//
//   raw bytes of a sample   39 01 … 6c 73 00 …
//   its format              print fmt: "prev_comm=%s prev_pid=%d …", REC->prev_comm, …
//   text                    prev_comm=ls prev_pid=16740 …
//
// libtraceevent parses and applies the formats.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

struct tep_handle;

namespace profiler::events {

// A field of the records of tracepoints.
struct TraceField {
  std::string event;  // "sched:sched_switch"; empty: any event that has such a field
  std::string name;

  bool operator==(const TraceField&) const = default;
};

// The parts of the output for a record: first the record's text, then the value of each of
// `fields`. Every part is followed by `end`. If there are no fields, the output is the text
// without `end`.
struct TraceParts {
  bool text = true;  // false: the first part is empty
  std::vector<TraceField> fields;
  char end = '\0';
};

// The fields of an event, except the fields that all events have.
struct EventFields {
  std::string event;  // "sched:sched_switch"
  std::vector<std::string> fields;
};

// The error of a TRACING_DATA section that is invalid or truncated: kDataLoss.
absl::Status TracingDataIsCut();

// The formats of a recording's tracepoints. Not thread-safe.
class TraceFormats {
 public:
  // Parses a TRACING_DATA section. Ignores formats that cannot be parsed. Error: kDataLoss for an
  // invalid or truncated section.
  static absl::StatusOr<TraceFormats> Parse(std::string_view section);

  // Appends the fields of a record that was taken on `cpu`; nothing if the record's format is
  // unknown. Functions are marked (function_marks.h).
  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) const;
  // Appends the parts of a record. A field is empty if the record does not have it, or if the
  // record's format is unknown.
  void AppendParts(std::span<const std::byte> raw, uint32_t cpu, const TraceParts& parts,
                   std::string* out) const;

  // Returns the fields of all events with a known format.
  std::vector<EventFields> Fields() const;

 private:
  struct Free {
    void operator()(tep_handle* handle) const;
  };
  explicit TraceFormats(tep_handle* handle) : handle_(handle) {}

  std::unique_ptr<std::string> function_mark_;  // handle_ has a pointer to it
  std::unique_ptr<tep_handle, Free> handle_;
};

}  // namespace profiler::events

// What records of tracepoints say, as text: by the formats that a recording carries
// (tracing_data.h), as the kernel itself would print them.
//
//   raw bytes of a sample   39 01 … 6c 73 00 …
//   its format              print fmt: "prev_comm=%s prev_pid=%d …", REC->prev_comm, …
//   text                    prev_comm=ls prev_pid=16740 …
//
// The formats are libtraceevent's to parse and to apply.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

struct tep_handle;

namespace profiler::events {

// The name of the kernel's function at an address; with its distance from the function's start,
// "perf_event_mmap+0x258", if that is asked for. Empty: unknown.
using FunctionName = std::function<std::string(uint64_t address, bool with_offset)>;

// Appends text of TraceFormats with the names of the functions that formats print by address (%pS,
// %ps). An address without a name is hexadecimal. `name` may be empty.
void AppendWithNames(std::string_view text, const FunctionName& name, std::string* out);

// A field of the records of tracepoints.
struct TraceField {
  std::string event;  // "sched:sched_switch"; empty: of each that has such a field
  std::string name;

  bool operator==(const TraceField&) const = default;
};

// The parts that are said of a record: its text, then each field's, each behind the other with
// `end` behind it. Without fields it is the text alone, and no `end`.
struct TraceParts {
  bool text = true;  // else the first part is empty
  std::vector<TraceField> fields;
  char end = '\0';
};

// The fields of an event, without those that all events have.
struct EventFields {
  std::string event;  // "sched:sched_switch"
  std::vector<std::string> fields;
};

// Not thread-safe.
class TraceFormats {
 public:
  // Of a TRACING_DATA section. A format that cannot be parsed is as if it were not there. Errors:
  // kDataLoss for a section that is no such or is cut short.
  static absl::StatusOr<TraceFormats> Parse(std::string_view section);

  // Appends the fields of a record that was taken on `cpu`; nothing where its format is not known.
  // Functions are marks that AppendWithNames replaces.
  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) const;
  // Appends the parts. A field that the record does not have is empty, and so is each where its
  // format is not known.
  void AppendParts(std::span<const std::byte> raw, uint32_t cpu, const TraceParts& parts,
                   std::string* out) const;

  // Returns the fields of all events whose format is known.
  std::vector<EventFields> Fields() const;

 private:
  struct Free {
    void operator()(tep_handle* handle) const;
  };
  explicit TraceFormats(tep_handle* handle) : handle_(handle) {}

  std::unique_ptr<std::string> function_mark_;  // that the handle has a pointer to
  std::unique_ptr<tep_handle, Free> handle_;
};

}  // namespace profiler::events

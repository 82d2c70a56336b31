// Prints the records of a recording's tracepoints by formats that it compiles once.
//
// The text is that of libtraceevent (TraceFormats). This class prints the formats of nearly all of
// the kernel's tracepoints in a fraction of the time, and in this process, because it does not trust
// them. It leaves the others to libtraceevent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/machine/events/trace_formats.h"
#include "src/machine/events/trace_print.h"

namespace profiler::events {

class TracePrinter {
 public:
  // Compiles the formats of a TRACING_DATA section. Error: that of TraceFormats::Parse.
  static absl::StatusOr<TracePrinter> Parse(std::string_view section);

  // Appends the parts of a record, as TraceFormats::AppendParts does. Returns false, and leaves `out`
  // as it was, if only libtraceevent can print the record.
  bool AppendParts(std::span<const std::byte> record, const TraceParts& parts,
                   std::string* out) const;

 private:
  struct Event {
    std::string full_name;  // "sched:sched_switch"
    TracePrint print;
  };

  void Add(std::string_view system, std::string_view format);

  absl::flat_hash_map<uint32_t, Event> events_;  // by id
  bool is_complete_ = true;                      // True if all formats are in events_.
};

}  // namespace profiler::events

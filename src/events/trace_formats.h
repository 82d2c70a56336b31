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
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"

struct tep_handle;

namespace profiler::events {

// Not thread-safe.
class TraceFormats {
 public:
  // Of a TRACING_DATA section. A format that cannot be parsed is as if it were not there. Errors:
  // kDataLoss for a section that is no such or is cut short.
  static absl::StatusOr<TraceFormats> Parse(std::string_view section);

  // Appends the fields of a record that was taken on `cpu`; nothing where its format is not known.
  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out) const;

 private:
  struct Free {
    void operator()(tep_handle* handle) const;
  };
  explicit TraceFormats(tep_handle* handle) : handle_(handle) {}

  std::unique_ptr<tep_handle, Free> handle_;
};

}  // namespace profiler::events

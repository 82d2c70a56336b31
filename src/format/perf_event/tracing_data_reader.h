// Reads TRACING_DATA, the kernel's description of tracepoints in a recording. (tracing_data.h in
// src/machine/events draws and writes it.)
//
//   TracingDataReader in(section);
//   while (const auto format = in.Next()) …
//   if (!in.ok()) …   // the section is invalid or cut short
//
// Source: tools/perf/util/trace-event-info.c and trace-event-read.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/base/byte_reader.h"

namespace profiler::perf_event {

// The format file of an event.
struct TraceFormat {
  // "sched"; empty for formats that the function tracer has for itself, apart from all systems.
  std::string_view system;
  std::string_view text;
};

// A reader of the section's parts, in order. The section must outlive it; all text points into the
// section. Costs one pass.
class TracingDataReader {
 public:
  // Reads up to the first format.
  explicit TracingDataReader(std::string_view section);

  bool is_big_endian() const { return big_endian_; }
  uint8_t long_bytes() const { return long_bytes_; }
  uint32_t page_bytes() const { return page_bytes_; }

  // Returns the next format; nullopt after the last one, or where the section is cut.
  std::optional<TraceFormat> Next();
  // Returns /sys/kernel/tracing/printk_formats. It follows the last format.
  std::string_view PrintkFormats();

  // Returns false if the section was invalid or cut in a part that was read.
  bool ok() const { return in_.ok(); }

 private:
  template <class Number>
  Number Read();
  std::string_view Text(uint64_t size);
  void Expect(std::string_view text);

  ByteReader in_;
  bool big_endian_ = false;
  bool swapped_ = false;
  uint8_t long_bytes_ = 0;
  uint32_t page_bytes_ = 0;
  std::string_view system_;               // of the next formats
  uint32_t formats_left_ = 0;             // formats of `system_` that follow
  std::optional<uint32_t> systems_left_;  // systems that follow; nullopt before the first system
};

}  // namespace profiler::perf_event

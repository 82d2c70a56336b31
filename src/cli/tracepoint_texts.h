// What the records of tracepoints say, in words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/events/trace_process.h"
#include "src/perf_data/read/recording.h"

namespace profiler::cli {

// By the formats that the recording carries, which a stream may bring behind its events. What is
// wrong with them is said once. Not thread-safe; the recording must outlive it.
class TracepointTexts {
 public:
  explicit TracepointTexts(const perf_data::Recording& recording) : recording_(recording) {}

  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out);

 private:
  bool Start();

  const perf_data::Recording& recording_;
  bool was_started_ = false;
  std::unique_ptr<events::TraceProcess> process_;
};

}  // namespace profiler::cli

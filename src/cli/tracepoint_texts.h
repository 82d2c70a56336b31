// What the records of tracepoints say, in words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/events/trace_formats.h"
#include "src/events/trace_process.h"
#include "src/perf_data/read/recording.h"

namespace profiler::cli {

// By the formats that the recording carries, which a stream may bring behind its events. What is
// wrong with them is said once. Not thread-safe; the recording must outlive it.
class TracepointTexts {
 public:
  explicit TracepointTexts(const perf_data::Recording& recording) : recording_(recording) {}

  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out);
  // The text of each record, with the kernel's functions by these names. Costs a fraction of Append
  // for many records.
  void Describe(std::span<const events::TraceRecord> records, const events::FunctionName& name,
                std::vector<std::string>* texts);

 private:
  bool Start();
  void StartProcess();

  const perf_data::Recording& recording_;
  bool was_started_ = false;
  std::unique_ptr<events::TraceProcess> process_;
};

}  // namespace profiler::cli

// Formats the raw data of tracepoint samples as text.

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

// A formatter that uses the formats in the recording, which in a stream may come after its events.
// Reports malformed formats once. Not thread-safe; the recording must outlive it.
class TracepointTexts {
 public:
  explicit TracepointTexts(const perf_data::Recording& recording) : recording_(recording) {}

  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out);
  // Sets `texts` to the text of each record; `name` names the kernel's functions. For many records
  // it costs a fraction of Append.
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

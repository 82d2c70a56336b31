// Formats the raw data of tracepoint samples as text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/format/perf_data/read/recording.h"
#include "src/machine/events/function_marks.h"
#include "src/machine/events/trace_formats.h"
#include "src/machine/events/trace_texts.h"
#include "src/profile/profile.h"

namespace profiler::cli {

// A formatter that uses the recording's tracepoint formats. In a stream the formats may come after
// the events. Reports malformed formats once. Not thread-safe; the recording must outlive it.
class TracepointTexts {
 public:
  explicit TracepointTexts(const perf_data::Recording& recording, events::TraceParts parts = {})
      : recording_(recording), parts_(std::move(parts)) {}

  // Appends the text of a record to `*out`. The text may contain addresses of functions. If
  // `functions` is given, each address goes to `*functions`, and a mark takes its place in the text
  // (NameTraceFunctions).
  void Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out,
              std::vector<uint64_t>* functions = nullptr);
  // Sets `texts` to the text of each record; `name` names the kernel's functions. For many records,
  // Describe takes a fraction of Append's time.
  void Describe(std::span<const events::TraceRecord> records, const events::FunctionName& name,
                std::vector<std::string>* texts);

 private:
  bool Start();

  const perf_data::Recording& recording_;
  const events::TraceParts parts_;
  bool was_started_ = false;
  std::optional<events::TraceTexts> texts_;
};

// Replaces the marks in texts of Dimension::kTrace by names of Profile::trace_functions, or by
// addresses if they have no name.
void NameTraceFunctions(profile::Profile& profile);

// The fields of a recording's tracepoints, for words of --sort. Not thread-safe.
class TraceFieldNames {
 public:
  explicit TraceFieldNames(std::string path) : path_(std::move(path)) {}

  // Returns the fields that a word names: "FIELD" of any event, "EVENT.FIELD", "EVENT.*", or
  // "trace_fields" for all. Returns none if the recording has no such field, or is not in a file.
  // The first call opens the recording and starts a process that reads the formats.
  std::vector<std::string> Named(std::string_view word);

 private:
  const std::string path_;
  std::optional<std::vector<events::EventFields>> events_;
};

// Parses the name of a field: "sched:sched_switch.prev_comm", or "prev_comm" of any event.
events::TraceField TraceFieldOf(std::string_view name);

}  // namespace profiler::cli

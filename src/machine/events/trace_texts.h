// Prints the records of a recording's tracepoints: most of them by TracePrinter, and the rest by
// libtraceevent in a process of its own (TraceProcess), which starts when it is needed first.

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

#include "src/base/status.h"
#include "src/machine/events/trace_formats.h"
#include "src/machine/events/trace_printer.h"
#include "src/machine/events/trace_process.h"

namespace profiler::events {

// The section must outlive it. Not thread-safe.
class TraceTexts {
 public:
  // Parses a TRACING_DATA section. Error: that of TracePrinter::Parse.
  static absl::StatusOr<TraceTexts> Parse(std::string_view section, TraceParts parts = {});

  // Appends the parts of a record, as TraceFormats::AppendParts does. Error: those of TraceProcess,
  // each once; then records that TracePrinter leaves out have no text.
  absl::Status Append(std::span<const std::byte> record, uint32_t cpu, std::string* out);
  // Sets the text of each record, likewise. For many records that TracePrinter leaves out, takes a
  // fraction of Append's time.
  absl::Status Texts(std::span<const TraceRecord> records, std::vector<std::string>* texts);

 private:
  TraceTexts(std::string_view section, TraceParts parts, TracePrinter printer)
      : section_(section), parts_(std::move(parts)), printer_(std::move(printer)) {}
  absl::Status StartProcess();

  std::string_view section_;
  TraceParts parts_;
  TracePrinter printer_;
  bool has_failed_ = false;                // True if the process could not start.
  std::unique_ptr<TraceProcess> process_;  // null until it is needed
};

}  // namespace profiler::events

// TraceFormats in a process of its own: libtraceevent (1.8 and before) crashes on formats that were
// made to do so, and those of a recording are whoever's made it.
//
//   this process                      its child
//   section            ── inherited ──▶ TraceFormats::Parse
//                     ◀── u32 size, text: what is wrong with the section, or nothing
//   u32 records, u32 bytes,
//   { u32 CPU, u32 size, record } … ──▶ TraceFormats::AppendParts
//                     ◀── u32 bytes, { u32 size, text } …
//   u32 0, u32 0       ──────────────▶ TraceFormats::Fields
//                     ◀── u32 bytes, a line for each event: its name, its fields
//
// Many records at a time cost two context switches in all. The child has read all of them before it
// answers, so that neither waits for the other to read.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/events/trace_formats.h"

namespace profiler::events {

// The CPU that a record was taken on, and its bytes.
using TraceRecord = std::pair<uint32_t, std::string>;

// Not thread-safe, and not to be started while other threads run. Cost: a fork, and two context
// switches per call, some 10 µs.
class TraceProcess {
 public:
  // Errors: those of TraceFormats::Parse, of socketpair(2) and fork(2); kDataLoss where the formats
  // ended the child.
  static absl::StatusOr<std::unique_ptr<TraceProcess>> Start(std::string_view section,
                                                             const TraceParts& parts = {});
  TraceProcess(const TraceProcess&) = delete;
  TraceProcess& operator=(const TraceProcess&) = delete;
  ~TraceProcess();

  // As TraceFormats::AppendParts has it. kDataLoss when the record has ended the child, or kept it
  // busy for seconds; nothing is appended from then on.
  absl::Status Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out);
  // The text of each record, as by Append; empty ones after an error.
  absl::Status Texts(std::span<const TraceRecord> records, std::vector<std::string>* texts);
  // Returns what TraceFormats::Fields returns.
  absl::StatusOr<std::vector<EventFields>> Fields();

 private:
  TraceProcess(pid_t child, UniqueFd socket) : child_(child), socket_(std::move(socket)) {}
  absl::Status Receive(std::string* out);
  void End();

  pid_t child_;  // 0: ended
  UniqueFd socket_;
};

}  // namespace profiler::events

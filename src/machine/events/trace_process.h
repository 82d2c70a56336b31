// Runs TraceFormats in a separate process, because formats come from untrusted recordings and
// libtraceevent (1.8 and before) crashes on malicious ones.
//
//   this process                      its child
//   section            ── inherited ──▶ TraceFormats::Parse
//                     ◀── u32 size, text: the error in the section, or nothing
//   u32 records, u32 bytes,
//   { u32 CPU, u32 size, record } … ──▶ TraceFormats::AppendParts
//                     ◀── u32 bytes, { u32 size, text } …
//   u32 0, u32 0       ──────────────▶ TraceFormats::Fields
//                     ◀── u32 bytes, a line for each event: its name, its fields
//
// A batch of records costs two context switches. The child reads the whole batch before it answers,
// so that neither process waits for the other to read.

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
#include "src/machine/events/trace_formats.h"

namespace profiler::events {

// The CPU of a record, and its bytes.
using TraceRecord = std::pair<uint32_t, std::string>;

// A child process. Not thread-safe; start it while no other threads run. Cost: a fork, and two
// context switches per call, some 10 µs.
class TraceProcess {
 public:
  // Starts the child. Errors: those of TraceFormats::Parse, of socketpair(2) and fork(2); kDataLoss
  // if the formats ended the child.
  static absl::StatusOr<std::unique_ptr<TraceProcess>> Start(std::string_view section,
                                                             const TraceParts& parts = {});
  TraceProcess(const TraceProcess&) = delete;
  TraceProcess& operator=(const TraceProcess&) = delete;
  ~TraceProcess();

  // Appends the parts of a record, like TraceFormats::AppendParts. Error: kDataLoss if the record
  // ended the child or kept it busy for seconds; later calls append nothing.
  absl::Status Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out);
  // Sets the text of each record, like Append; the texts are empty after an error.
  absl::Status Texts(std::span<const TraceRecord> records, std::vector<std::string>* texts);
  // Returns the fields of all events, like TraceFormats::Fields.
  absl::StatusOr<std::vector<EventFields>> Fields();

 private:
  TraceProcess(pid_t child, UniqueFd socket) : child_(child), socket_(std::move(socket)) {}
  absl::Status Receive(std::string* out);
  void End();

  pid_t child_;  // pid; 0 if the child has ended
  UniqueFd socket_;
};

}  // namespace profiler::events

// The names of code that virtual machines make, kept while they can be read: for each process that
// has such code in its call chains a dump as a JIT would write it itself (symbolize/symbols), in a
// private directory, for as long as the recording is made and named.
//
//   sample, frame in new code ──▶ Add ──▶ DIR/1/jit-PID.dump   compiled code and stubs
//                                         DIR/2/jit-PID.dump   bytecodes
//                                    └──▶ MMAP2 in front of the sample: that there is a dump;
//                                         that bytecodes are where they are
//
// So everything behind it is as with a JIT that writes dumps: addresses that are used again, lines,
// code, and names that are embedded in the recording.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/unique_fd.h"
#include "src/base/unlink_on_signal.h"
#include "src/perf_event/codec.h"
#include "symbolize/symbols/made_code.h"

namespace profiler::record {

// One thread. What cannot be written any more (no room on the disk, or more than kMostBytes) has no
// names.
class CodeDumps {
 public:
  // All dumps together.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;

  // `written` is the layout of the records that go into the file.
  explicit CodeDumps(const perf_event::RecordLayout& written);
  // Takes the dumps away.
  ~CodeDumps();
  CodeDumps(const CodeDumps&) = delete;

  // What is added from here on was met by a sample of that time (CLOCK_MONOTONIC).
  void SetTime(uint64_t time) { time_ = time; }
  uint64_t time() const { return time_; }

  // Of a process, which was there at `since`; 0: before the recording. Valid until it is forgotten.
  symbolize::CodeSink& Of(uint32_t pid, uint64_t since);
  // Of a process that says itself what its compiled code is: only bytecodes are told.
  void LeaveCompiled(uint32_t pid);
  // Executable memory of the process was mapped: what was there may be something else.
  void Mapped(uint32_t pid);
  // The process executes another program, or its number will be another's. Its dumps stay.
  void Forget(uint32_t pid);

  // Appends what has to stand in front of the sample at hand: whole records.
  void TakeRecords(std::vector<std::byte>* out);
  // Writes what was added, so that others can read it.
  void Flush();

 private:
  class Process;

  // The path of a new dump, whose directory is there; nothing where that cannot be.
  std::optional<std::string> NewPath(uint32_t pid);
  void AddMapping(uint32_t pid, uint64_t start, uint64_t size, const std::string& name);

  const perf_event::RecordLayout written_;
  uint64_t time_ = 0;
  uint64_t bytes_ = 0;  // of all dumps
  std::string directory_;
  bool has_failed_ = false;        // the directory cannot be made
  std::vector<std::string> made_;  // files, and the directories they are in
  std::vector<UnlinkOnSignal> on_signal_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  std::vector<std::byte> records_;
};

}  // namespace profiler::record

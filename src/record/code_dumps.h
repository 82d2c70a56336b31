// Keeps the names of code that virtual machines generate, because they cannot be read later. Each
// process with such code in its call chains gets dumps in the format that a JIT writes itself
// (symbolize/symbols). They lie in a private directory until the recording is made and named.
//
//   sample, frame in new code ──▶ Add ──▶ DIR/1/jit-PID.dump   compiled code and stubs
//                                         DIR/2/jit-PID.dump   bytecodes
//                                         DIR/3/[python]/jit-PID.dump   bytecodes with an image name
//                                    └──▶ MMAP2 records in front of the sample: one that announces
//                                         the dump, and one for each page of bytecodes
//
// Readers handle these dumps like the dumps of a JIT. So addresses may be reused, views show lines
// and code, and the names are embedded in the recording.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/unique_fd.h"
#include "src/base/unlink_on_signal.h"
#include "src/format/perf_event/codec.h"
#include "symbolize/symbols/vm_code.h"

namespace profiler::record {

// The dumps of all processes. Use it from one thread. Code that cannot be written, because the disk
// is full or because the dumps exceed kMostBytes, stays without names.
class CodeDumps {
 public:
  // Limit for all dumps together, in bytes.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;

  // `written` is the layout of the records that go into the file.
  explicit CodeDumps(const perf_event::RecordLayout& written);
  // Removes the dumps.
  ~CodeDumps();
  CodeDumps(const CodeDumps&) = delete;

  // Sets the time (CLOCK_MONOTONIC) of the sample at hand. Code that is added from now on gets this
  // time in the dumps.
  void SetTime(uint64_t time) { time_ = time; }
  uint64_t time() const { return time_; }

  // Returns the sink for the code of a process. `since` is when the process began; 0: before the
  // recording. The sink is valid until Forget(pid).
  symbolize::CodeSink& Of(uint32_t pid, uint64_t since);
  // Drops compiled code of the process from now on, because the process writes its own dump.
  // Bytecodes are still kept.
  void LeaveCompiled(uint32_t pid);
  // Notes that the process has mapped executable memory, which may have replaced code. Code that is
  // met after the mapping is therefore added again (CodeSink::Generation).
  void Mapped(uint32_t pid);
  // Ends the dumps of the process, because it executes another program or its pid is reused. The
  // dump files stay.
  void Forget(uint32_t pid);

  // Appends the records that have to precede the sample at hand: whole records.
  void TakeRecords(std::vector<std::byte>* out);
  // Writes the added code to the files, so that readers of the files see it.
  void Flush();

 private:
  class Dump;
  class Process;

  // Returns the path of a new dump and makes its directory; nothing if that fails. Views show
  // `image` as the name of the dump's image, if it is not empty (profile/image_table.h).
  std::optional<std::string> NewPath(uint32_t pid, std::string_view image);
  void AddMapping(uint32_t pid, uint64_t start, uint64_t size, const std::string& name);

  const perf_event::RecordLayout written_;
  uint64_t time_ = 0;
  uint64_t bytes_ = 0;  // size of all dumps
  std::string directory_;
  bool has_failed_ = false;        // True if the directory cannot be made.
  std::vector<std::string> made_;  // paths of the dump files
  std::vector<UnlinkOnSignal> on_signal_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  std::vector<std::byte> records_;
};

}  // namespace profiler::record

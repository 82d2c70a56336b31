// The file that a JIT writes for profilers with all its code and when it was made: jit-PID.dump.
//
// The JIT maps a page of it executable, so that recordings name it. Each record says what code lies
// where from a time on, so code memory that is used again does no harm; the code itself follows, so
// its place in the file stands for it, wherever it is moved to:
//
//   header   magic "JiTD", version, header size, e_machine, -, pid, time, flags        u32 … u64
//   u64 record   id, size, time                                                            u32 u32
//                                                                                  u64
//     0 CODE_LOAD         pid, tid, vma, address, size, index, name, NUL, the code  u32 u32 u64 …
//     1 CODE_MOVE         pid, tid, vma, old address, new address, size, index      u32 u32 u64 …
//     2 DEBUG_INFO        address, entries: {address, line, discriminator, file, NUL}
//                         of the next CODE_LOAD
//     3 CLOSE
//     4 UNWINDING_INFO    (not used: the code of all JITs known has frame pointers)
//     0x494e4c PLACES     calls, places, the function's file, NUL                   u32 u32
//                         of each call: its caller, the line there, name, NUL, file, NUL   u32 u32
//                         of each place: distance, call, line                       u64 u32 u32
//                         of the next CODE_LOAD, instead of DEBUG_INFO
//
// The last one is of this project: it says what was inlined, and stands in the dumps that are made
// of virtual machines from outside (jit_dump_writer.h). Readers pass over records that they do not
// know.
//
// Times are of CLOCK_MONOTONIC in nanoseconds, unless a flag says that they are the processor's.
//
// Source: tools/perf/Documentation/jitdump-specification.txt, Linux 6.18.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/mapped_file.h"
#include "src/base/status.h"

namespace profiler::symbolize {

inline constexpr uint32_t kJitDumpMagic = 0x4a695444;
inline constexpr uint32_t kJitDumpPlaces = 0x494e4c;

// Code at an address, from a time on.
struct JitCode {
  uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  uint32_t pid = 0;   // in the namespace of the process
  RuntimeAddress start;
  uint64_t size = 0;
  FileOffset offset;  // of the code in the dump
};

// Immutable; safe to share between threads. Views live as long as it does.
class JitDump {
 public:
  struct Line {
    uint64_t distance;  // of its first instruction from the function's start
    uint32_t line;
    std::string_view file;
  };
  // A function whose code is in another one's.
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Call {
    uint32_t caller = kNone;  // an earlier one of the calls; kNone: the function that has the code
    uint32_t line = 0;        // of the call, in the caller; 0: unknown
    std::string_view name;
    std::string_view file;  // of the function called; empty: unknown
  };
  struct Place {
    uint64_t distance;  // of its first instruction from the function's start
    uint32_t call;      // whose code that is; kNone: the function's own
    uint32_t line;      // in it; 0: unknown
  };
  struct Function {
    FileOffset offset;
    uint64_t size = 0;
    std::string_view name;
    std::span<const std::byte> code;
    std::span<const Line> lines;  // by distance
    std::string_view file;        // where there are places
    std::span<const Call> calls;
    std::span<const Place> places;  // by distance
  };

  // A dump that is still being written is read as far as it is whole. The file is open, and may be
  // closed afterwards; `path` is for messages. Errors: those of MappedFile::FromFd;
  // kInvalidArgument for what is no dump, is of the other byte order or has the processor's times.
  static absl::StatusOr<JitDump> Read(int fd, const std::string& path);
  // What is read of a dump: pieces of code, moved ones among them, and lines. Far more than JITs
  // write, and a gigabyte in memory.
  struct Limits {
    size_t codes = size_t{1} << 22;
    size_t lines = size_t{1} << 24;  // and places
    size_t calls = size_t{1} << 22;
  };
  static absl::StatusOr<JitDump> Parse(std::span<const std::byte> bytes, const Limits& limits);
  static absl::StatusOr<JitDump> Parse(std::span<const std::byte> bytes) {
    return Parse(bytes, Limits());
  }

  // Whether there is more in the dump than was read.
  bool is_cut() const { return is_cut_; }

  bool IsOfUserOrRoot() const { return file_.IsOfUserOrRoot(); }

  // Of the code: EM_… of <elf.h>.
  uint16_t machine() const { return machine_; }

  // In the order of their times.
  std::span<const JitCode> codes() const { return codes_; }

  // The process mapped the dump at `mapped_at`, which it does right after it has begun it. If the
  // dump was begun at another time by its own clock, the process has a clock of its own (time
  // namespaces): the times of all code become those of the recording's clock. 0 is unknown.
  void AdjustTimes(uint64_t mapped_at);

  // The function whose code is at this place of the file, null where none is. O(log n).
  const Function* Find(FileOffset offset) const;
  // The line of the instruction there, null where nothing says.
  static const Line* LineAt(const Function& function, uint64_t distance);
  // The same of places.
  static const Place* PlaceAt(const Function& function, uint64_t distance);

 private:
  class Parser;

  MappedFile file_;
  bool is_cut_ = false;
  uint16_t machine_ = 0;
  uint64_t began_ = 0;  // by the clock of the process
  std::vector<JitCode> codes_;
  std::vector<Line> lines_;
  std::vector<Call> calls_;
  std::vector<Place> places_;
  std::vector<Function> functions_;  // by offset
};

}  // namespace profiler::symbolize

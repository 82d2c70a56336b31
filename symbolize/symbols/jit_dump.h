// Reads jit-PID.dump, the file in which a JIT writes all its code, with the time at which the code
// was made.
//
// The JIT maps a page of the file executable, so that recordings contain its name. Each record says
// which code is at which address from a time on, so reused code memory is no problem. The record
// also contains the code. The code's offset in the file identifies it, even if its address changes:
//
//   header   magic "JiTD", version, header size, e_machine, -, pid, time, flags      u32 … u64 u64
//   record   id, size, time                                                          u32 u32 u64
//     0 CODE_LOAD         pid, tid, vma, address, size, index, name, NUL, the code   u32 u32 u64 …
//     1 CODE_MOVE         pid, tid, vma, old address, new address, size, index       u32 u32 u64 …
//     2 DEBUG_INFO        address, entries: {address, line, discriminator, file, NUL}
//                         of the next CODE_LOAD
//     3 CLOSE
//     4 UNWINDING_INFO    (not used: code of all known JITs has frame pointers)
//     0x494e4c PLACES     calls, places, the function's file, NUL                    u32 u32
//                         per call: its caller, line of call, name, NUL, file, NUL   u32 u32
//                         per place: distance, call, line                            u64 u32 u32
//                         of the next CODE_LOAD, instead of DEBUG_INFO
//
// PLACES is this project's own record, with inlined calls. It occurs in dumps made from outside the
// virtual machine (jit_dump_writer.h). Other readers skip unknown records.
//
// Times are CLOCK_MONOTONIC in nanoseconds, unless a flag says that they are processor timestamps.
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

// Ids of records.
struct JitDumpRecord {
  enum Id : uint32_t { kCodeLoad = 0, kCodeMove = 1, kDebugInfo = 2, kPlaces = 0x494e4c };
};

// Code that is at an address from a time on.
struct JitCode {
  uint64_t time = 0;  // time from which the code is at `start`, CLOCK_MONOTONIC in ns
  uint32_t pid = 0;   // pid of the process in its own pid namespace
  RuntimeAddress start;
  uint64_t size = 0;
  FileOffset offset;  // offset of the code in the dump
};

// A dump. Views live as long as it does. Immutable, so thread-safe.
class JitDump {
 public:
  struct Line {
    uint64_t distance;  // bytes from the function's start to the line's first instruction
    uint32_t line;
    std::string_view file;
  };
  // Value of Call::caller and Place::call for code of the function itself.
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Call {
    uint32_t caller = kNone;  // index of an earlier call; kNone: the function itself
    uint32_t line = 0;        // line of the call, in the caller; 0: unknown
    std::string_view name;
    std::string_view file;  // source file of the called function; empty: unknown
  };
  struct Place {
    uint64_t distance;  // bytes from the function's start to the place's first instruction
    uint32_t call;      // the inlined call with that code; kNone: the function itself
    uint32_t line;      // line of the place, in the innermost function; 0: unknown
  };
  struct Function {
    FileOffset offset;
    uint64_t size = 0;
    std::string_view name;
    std::span<const std::byte> code;
    std::span<const Line> lines;  // sorted by distance
    std::string_view file;        // source file of the function; set only if there are places
    std::span<const Call> calls;
    std::span<const Place> places;  // sorted by distance
  };

  // Reads an open dump; the caller may close `fd` afterwards. If the dump is still being written,
  // reads all complete records. `path` is for messages. Errors: those of MappedFile::FromFd;
  // kInvalidArgument if the file is no dump, or if the dump has the other byte order or processor
  // timestamps.
  static absl::StatusOr<JitDump> Read(int fd, const std::string& path);
  // Limits on the number of elements that are read of a dump. `codes` includes moved code. JITs
  // write far fewer. A dump at the limits takes at most 1 GiB of memory.
  struct Limits {
    size_t codes = size_t{1} << 22;
    size_t lines = size_t{1} << 24;  // limit on lines, and also on places
    size_t calls = size_t{1} << 22;
  };
  static absl::StatusOr<JitDump> Parse(std::span<const std::byte> bytes, const Limits& limits);
  static absl::StatusOr<JitDump> Parse(std::span<const std::byte> bytes) {
    return Parse(bytes, Limits());
  }

  // Returns true if a limit was reached.
  bool is_cut() const { return is_cut_; }

  bool IsOfUserOrRoot() const { return file_.IsOfUserOrRoot(); }

  // Returns the code's machine, EM_… of <elf.h>.
  uint16_t machine() const { return machine_; }

  // Returns all code in time order.
  std::span<const JitCode> codes() const { return codes_; }

  // Converts times to the recording's clock if the process has another clock (time namespaces).
  // `mapped_at` is the time at which the process mapped the dump, which happens right after the JIT
  // began to write it; 0: unknown. If the dump's own clock disagrees, all times are shifted.
  void AdjustTimes(uint64_t mapped_at);

  // Returns the function whose code is at this offset of the file; null: none. O(log n).
  const Function* Find(FileOffset offset) const;
  // Returns the line of the instruction at that distance; null: unknown.
  static const Line* LineAt(const Function& function, uint64_t distance);
  // Returns the place of the instruction at that distance; null: unknown.
  static const Place* PlaceAt(const Function& function, uint64_t distance);

 private:
  class Parser;

  MappedFile file_;
  bool is_cut_ = false;
  uint16_t machine_ = 0;
  uint64_t began_ = 0;  // time at which the dump was begun, by the clock of the process
  std::vector<JitCode> codes_;
  std::vector<Line> lines_;
  std::vector<Call> calls_;
  std::vector<Place> places_;
  std::vector<Function> functions_;  // sorted by offset
};

}  // namespace profiler::symbolize

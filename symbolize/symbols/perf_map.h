// The map that a JIT writes for profilers: /tmp/perf-PID.map.
//
//   7f3a4c001000 1a0 LazyCompile:~add file.js:3
//   start        size name, the first two in hexadecimal
//
// Code memory is used again, so lines overlap: a later line replaces what it overlaps of the
// earlier ones.
//
// Source: Linux tools/perf/Documentation/jit-interface.txt.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace profiler::symbolize {

// Immutable; safe to share between threads.
class PerfMap {
 public:
  struct Function {
    uint64_t start = 0;
    uint64_t size = 0;
    std::string_view name;  // lives as long as the map
  };

  // Reads an open file; `path` is for messages. Errors: those of read(2).
  static absl::StatusOr<PerfMap> Read(int fd, const std::string& path);
  // Takes the text over; its last byte must be NUL. Lines that cannot be read are skipped.
  static PerfMap Parse(std::vector<std::byte> text);

  // The function whose code is at `address`, null where none is. O(log n).
  const Function* Find(uint64_t address) const;

 private:
  // A piece of the address space and who wrote it last.
  struct Piece {
    uint64_t start;
    uint64_t end;
    uint32_t function;
  };

  void Flatten();

  std::vector<std::byte> text_;
  std::vector<Function> functions_;  // in file order
  std::vector<Piece> pieces_;        // by start, disjoint
};

}  // namespace profiler::symbolize

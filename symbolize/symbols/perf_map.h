// Reads the map that a JIT writes for profilers: /tmp/perf-PID.map.
//
//   7f3a4c001000 1a0 LazyCompile:~add file.js:3
//   start        size name, the first two in hexadecimal
//
// Code memory is reused, so lines overlap: a later line replaces the parts of earlier ones that it
// overlaps.
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

// A map. Immutable, so thread-safe.
class PerfMap {
 public:
  struct Function {
    uint64_t start = 0;
    uint64_t size = 0;
    std::string_view name;  // lives as long as the map
  };

  // Limits on what is read of a map. Far more than JITs write; so many functions need about 700 MiB
  // while they are sorted.
  static constexpr size_t kMostFunctions = size_t{1} << 22;
  static constexpr size_t kMostBytes = size_t{256} << 20;

  // Reads an open file; `path` is for messages. Errors: those of read(2).
  static absl::StatusOr<PerfMap> Read(int fd, const std::string& path,
                                      size_t most_bytes = kMostBytes);
  // Parses and keeps the text, whose last byte must be NUL. Skips invalid lines.
  static PerfMap Parse(std::vector<std::byte> text, size_t most_functions = kMostFunctions);

  // Returns true if a limit was reached.
  bool is_cut() const { return is_cut_; }

  // Returns the function whose code is at `address`; null: none. O(log n).
  const Function* Find(uint64_t address) const;

 private:
  // A piece of the address space, and the index of the last function written there.
  struct Piece {
    uint64_t start;
    uint64_t end;
    uint32_t function;
  };

  void Flatten();

  bool is_cut_ = false;
  std::vector<std::byte> text_;
  std::vector<Function> functions_;  // in the order of the file
  std::vector<Piece> pieces_;        // sorted by start, disjoint
};

}  // namespace profiler::symbolize

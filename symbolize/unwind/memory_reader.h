// Memory of the process at hand, for what is read on the way from a frame to its caller.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::symbolize {

// The copied stack, and what can be read beside it.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  // False where not all of it can be read.
  virtual bool ReadBytes(uint64_t address, std::span<std::byte> bytes) = 0;

  bool ReadWord(uint64_t address, uint64_t* value) {
    return ReadBytes(address, std::as_writable_bytes(std::span(value, 1)));
  }
};

}  // namespace profiler::symbolize

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

  // A word of `size` bytes, of which a number of 8 bytes is made.
  bool ReadWord(uint64_t address, uint64_t* value, size_t size = sizeof(uint64_t)) {
    uint64_t word = 0;
    const bool is_read =
        ReadBytes(address, std::as_writable_bytes(std::span(&word, 1)).first(size));
    if (is_read) *value = word;
    return is_read;
  }
};

}  // namespace profiler::symbolize

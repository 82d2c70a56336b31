// The interface for reading memory of the sampled process while unwinding.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::symbolize {

// A reader of the copied stack, and of other memory if it is available.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  // Reads `bytes.size()` bytes. Returns false if not all can be read.
  virtual bool ReadBytes(uint64_t address, std::span<std::byte> bytes) = 0;

  // Reads a word of `size` bytes and extends it to 64 bits. Returns false if it cannot be read.
  bool ReadWord(uint64_t address, uint64_t* value, size_t size = sizeof(uint64_t)) {
    uint64_t word = 0;
    const bool is_read =
        ReadBytes(address, std::as_writable_bytes(std::span(&word, 1)).first(size));
    if (is_read) *value = word;
    return is_read;
  }
};

}  // namespace profiler::symbolize

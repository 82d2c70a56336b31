// Memory of another process, for what is read of the tables that a virtual machine keeps there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace profiler::symbolize {

// The process as it is now. It writes there what it likes, and may do so between two calls.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  // False where not all of it can be read: then `bytes` are of no use.
  virtual bool Read(uint64_t address, std::span<std::byte> bytes) = 0;

  template <class T>
  requires std::is_trivially_copyable_v<T> std::optional<T> Value(uint64_t address) {
    T value;
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

}  // namespace profiler::symbolize

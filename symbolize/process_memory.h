// Memory of another process, for what is read of the tables that a virtual machine keeps there.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// Keeps the pages that were read, so that the fields of an object, and of its neighbours, cost one
// system call. They are as they were when they were first read, until all are forgotten. Not
// thread-safe. 256 KB once something was read.
class PagedMemory final : public ProcessMemory {
 public:
  // `memory` must outlive it.
  explicit PagedMemory(ProcessMemory& memory) : memory_(memory) {}

  void Forget() { ++look_; }
  // What is larger than a page, or in one that cannot be read whole, is read anew each time.
  bool Read(uint64_t address, std::span<std::byte> bytes) override;

 private:
  static constexpr uint64_t kPage = 4096;  // no page is smaller
  static constexpr size_t kPages = 64;     // a page has one place
  struct Page {
    uint64_t number = 0;
    uint64_t look = 0;  // 0: never
    std::array<std::byte, kPage> bytes;
  };

  const std::byte* Find(uint64_t number);

  ProcessMemory& memory_;
  uint64_t look_ = 1;
  std::unique_ptr<std::array<Page, kPages>> pages_;
};

}  // namespace profiler::symbolize

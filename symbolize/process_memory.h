// Reads memory of another process, such as the tables of a virtual machine.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace profiler::symbolize {

// The memory of a running process. Untrusted input: the process can change it at any time, also
// between two calls.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  // Reads `bytes.size()` bytes at `address`. Returns false if not all can be read; then the
  // contents of `bytes` are unspecified.
  virtual bool Read(uint64_t address, std::span<std::byte> bytes) = 0;

  struct Piece {
    uint64_t address = 0;
    std::span<std::byte> bytes;
  };
  // Reads pieces in order and stops at the first piece that cannot be read whole. Returns the
  // number of pieces read. The caller may retry with the pieces after the failed one.
  virtual size_t ReadEach(std::span<const Piece> pieces);

  // Returns CLOCK_MONOTONIC in ns. Everything read before this call was in memory before that time.
  virtual uint64_t Now();

  template <class T>
  requires std::is_trivially_copyable_v<T> std::optional<T> Value(uint64_t address) {
    T value;
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

// A cache of the pages that were read, so that the fields of an object and of its neighbours cost
// one system call. A cached page keeps its contents until Forget or Refresh. Not thread-safe. Takes
// 512 KiB after the first read.
//
//   Refresh   a b c       read again, all at once, when the first of them is asked for
//   Forget    a b c       read again as each is asked for
class PagedMemory final : public ProcessMemory {
 public:
  // `memory` must outlive this object.
  explicit PagedMemory(ProcessMemory& memory) : memory_(memory) {}

  // Drops all pages. Later reads see the memory as it is then.
  void Forget() { ++look_; }
  // Like Forget, but expects reads of mostly the same pages as since the last Refresh. The expected
  // pages are read together: 1 µs per page instead of 5.
  void Refresh();
  // Reads through the cache. A range larger than a page, or in a page that cannot be read whole, is
  // not cached.
  bool Read(uint64_t address, std::span<std::byte> bytes) override;
  uint64_t Now() override { return memory_.Now(); }

 private:
  static constexpr uint64_t kPage = 4096;         // the smallest page size
  static constexpr size_t kSets = 32, kWays = 4;  // a page is cached in one set only
  static constexpr size_t kPages = kSets * kWays;
  struct Page {
    uint64_t number = 0;
    uint64_t look = 0;  // value of look_ when the page was read; 0: never
    uint64_t use = 0;   // value of round_ when the page was last used
    uint64_t last = 0;  // value of asked_ when the page was last used
    std::array<std::byte, kPage> bytes;
  };

  std::span<Page> SetOf(uint64_t number);
  Page& PlaceOf(uint64_t number);
  const std::byte* Find(uint64_t number);
  void ReadUsed();

  ProcessMemory& memory_;
  uint64_t look_ = 1;
  uint64_t round_ = 1;  // counts Refresh calls
  uint64_t asked_ = 0;  // counts page look-ups
  bool is_to_read_used_ = false;
  std::unique_ptr<std::array<Page, kPages>> pages_;
};

}  // namespace profiler::symbolize

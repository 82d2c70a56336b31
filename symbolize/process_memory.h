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

  struct Piece {
    uint64_t address = 0;
    std::span<std::byte> bytes;
  };
  // How many of the first pieces were read, whole; with those behind it may be worth trying again.
  virtual size_t ReadEach(std::span<const Piece> pieces);

  // CLOCK_MONOTONIC, in ns: what was read before this call was in memory before that time.
  virtual uint64_t Now();

  template <class T>
  requires std::is_trivially_copyable_v<T> std::optional<T> Value(uint64_t address) {
    T value;
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

// Keeps the pages that were read, so that the fields of an object, and of its neighbours, cost one
// system call. They are as they were when they were first read, until all are forgotten. Not
// thread-safe. 512 KB once something was read.
//
//   Refresh   a b c       read again, all at once, when the first of them is asked for
//   Forget    a b c       read again as each is asked for
class PagedMemory final : public ProcessMemory {
 public:
  // `memory` must outlive it.
  explicit PagedMemory(ProcessMemory& memory) : memory_(memory) {}

  // What is read from here on is as it is now.
  void Forget() { ++look_; }
  // Likewise, and much the same will be asked for as since the last Refresh. 1 µs a page then,
  // instead of 5.
  void Refresh();
  // What is larger than a page, or in one that cannot be read whole, is read anew each time.
  bool Read(uint64_t address, std::span<std::byte> bytes) override;
  uint64_t Now() override { return memory_.Now(); }

 private:
  static constexpr uint64_t kPage = 4096;         // no page is smaller
  static constexpr size_t kSets = 32, kWays = 4;  // a page has a place in one set
  static constexpr size_t kPages = kSets * kWays;
  struct Page {
    uint64_t number = 0;
    uint64_t look = 0;  // in which it was read; 0: never
    uint64_t use = 0;   // the round in which it was asked for
    uint64_t last = 0;  // when it was asked for, in order of all
    std::array<std::byte, kPage> bytes;
  };

  std::span<Page> SetOf(uint64_t number);
  Page& PlaceOf(uint64_t number);
  const std::byte* Find(uint64_t number);
  void ReadUsed();

  ProcessMemory& memory_;
  uint64_t look_ = 1;
  uint64_t round_ = 1;  // from one Refresh to the next
  uint64_t asked_ = 0;  // how often pages were asked for
  bool is_to_read_used_ = false;
  std::unique_ptr<std::array<Page, kPages>> pages_;
};

}  // namespace profiler::symbolize

// The part of a large stack that the kernel does not copy as bytes: only its words that may be
// addresses of code or of the stack. Unwinding needs no others:
//
//   sp ▶ │ copied bytes            │ StackWords: return addresses, saved frame pointers …     │
//        └ StackBytes::bytes       └ start()                                            end() ┘
//
// A word that is left out is known not to be such an address. It reads as kNotAnAddress, which no
// program can use as an address. So a chain that would follow it ends. Pages that were not in memory
// are holes; nothing is known about them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace profiler::symbolize {

// Not canonical on x86-64 and no user address on AArch64, also with an offset that code adds to an
// address. Without the upper bits, where AArch64 signs addresses, it lies in the first page of
// memory, where no code is.
inline constexpr uint64_t kNotAnAddress = 0x8bad'0000'0000'0800;

// The words. Reuse the object, so that no memory is allocated.
class StackWords {
 public:
  static constexpr uint64_t kPage = 4096, kWord = 8;

  // Removes all words, and covers no memory from `start` on.
  void Begin(uint64_t start) {
    start_ = end_ = start & ~(kPage - 1);
    addresses_.clear();
    values_.clear();
    pages_.clear();
  }
  // Adds the word at `address`, a multiple of kWord behind all words before. Returns false if it is
  // none.
  bool Add(uint64_t address, uint64_t word) {
    if (address % kWord != 0 || address < end_ ||
        (!addresses_.empty() && address <= addresses_.back())) {
      return false;
    }
    addresses_.push_back(address);
    values_.push_back(word);
    return true;
  }
  // Covers the memory up to `end`, a multiple of kPage behind all words. Returns false if it is
  // none, or lower than before.
  bool SetEnd(uint64_t end) { return Extend(end, /*is_readable=*/true); }
  // Makes [start, end) a hole. Both are multiples of kPage, and `start` is SetEnd's last end or
  // behind it. Returns false if that is not so.
  bool AddHole(uint64_t start, uint64_t end) {
    return Extend(start, /*is_readable=*/true) && Extend(end, /*is_readable=*/false);
  }

  uint64_t start() const { return start_; }
  uint64_t end() const { return end_; }
  size_t size() const { return addresses_.size(); }

  // Returns true if the words cover the word at `address`.
  bool Covers(uint64_t address) const {
    return address >= start_ && address < end_ && address % kWord == 0 &&
           pages_[(address - start_) / kPage].is_readable;
  }
  // Returns the word at `address`, which must be covered; nothing if it was left out.
  std::optional<uint64_t> Find(uint64_t address) const {
    const Page& page = pages_[(address - start_) / kPage];
    const auto first = addresses_.begin() + page.first;
    const auto last = addresses_.begin() + page.last;
    const auto found = std::lower_bound(first, last, address);
    if (found == last || *found != address) return std::nullopt;
    return values_[static_cast<size_t>(found - addresses_.begin())];
  }

 private:
  // A page, and the indices of its words: [first, last).
  struct Page {
    uint32_t first = 0, last = 0;
    bool is_readable = false;
  };

  bool Extend(uint64_t end, bool is_readable) {
    if (end % kPage != 0 || end < end_ || (!addresses_.empty() && addresses_.back() >= end)) {
      return false;
    }
    auto index = pages_.empty() ? 0 : pages_.back().last;
    for (; end_ != end; end_ += kPage) {
      Page page{index, index, is_readable};
      while (page.last < addresses_.size() && addresses_[page.last] - end_ < kPage) ++page.last;
      pages_.push_back(page);
      index = page.last;
    }
    return true;
  }

  uint64_t start_ = 0, end_ = 0;
  std::vector<uint64_t> addresses_, values_;  // ascending addresses, and their words
  std::vector<Page> pages_;
};

}  // namespace profiler::symbolize

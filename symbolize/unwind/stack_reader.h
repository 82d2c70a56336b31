// Reads the stack of one sample: its copied bytes first, and other memory of the process if the
// copy does not have the address.
//
// Reading a copied word is the fast path of unwinding, so it is inline and makes no virtual call.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// A register that points at most this many bytes beyond the copied bytes may still point to the
// stack.
inline constexpr uint64_t kStackReach = uint64_t{64} << 20;

class StackReader final : public MemoryReader {
 public:
  // `word` is the size of a word on the stack in bytes, 4 or 8. `space` must outlive the reader.
  StackReader(StackBytes stack, UnwindSpace& space, uint64_t word)
      : stack_(stack), space_(space), word_(word) {}

  uint64_t start() const { return stack_.start; }
  uint64_t end() const { return stack_.start + stack_.bytes.size(); }
  // Returns true if the stack's memory ends with the copied bytes, at most 64 bytes after
  // `address`: alignment, and arguments of the stack's first function.
  bool EndsBehind(uint64_t address) const {
    constexpr uint64_t kMostBehind = 64;
    return stack_.reaches_end && address > start() && address <= end() &&
           end() - address <= kMostBehind;
  }

  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const uint64_t offset = address - stack_.start;
    if (offset < stack_.bytes.size() && bytes.size() <= stack_.bytes.size() - offset) {
      std::memcpy(bytes.data(), stack_.bytes.data() + offset, bytes.size());
      return true;
    }
    if (space_.ReadMemory(address, bytes)) {
      is_late_ = true;
      return true;
    }
    unreadable_ = address;
    return false;
  }

  // Reads a word of type `Word` from the copied bytes. Returns false if they do not have it all.
  template <class Word>
  bool ReadCopied(uint64_t address, uint64_t* word) const {
    const uint64_t offset = address - stack_.start;
    const uint64_t size = stack_.bytes.size();
    if (offset >= size || sizeof(Word) > size - offset) return false;
    Word read = 0;
    std::memcpy(&read, stack_.bytes.data() + offset, sizeof(read));
    *word = read;
    return true;
  }
  bool ReadCopiedWord(uint64_t address, uint64_t* word) const {
    if (word_ == sizeof(uint64_t)) [[likely]]
      return ReadCopied<uint64_t>(address, word);
    return ReadCopied<uint32_t>(address, word);
  }
  // Reads a stack word. Returns false if it cannot be read.
  bool ReadStackWord(uint64_t address, uint64_t* word) {
    return ReadCopiedWord(address, word) || ReadWord(address, word, word_);
  }

  // True if memory outside the copied bytes was read since the last call of SetLate(false).
  bool is_late() const { return is_late_; }
  void SetLate(bool is_late) { is_late_ = is_late; }

  // Returns the reason for the end of a chain whose next word could not be read. `is_other_stack`
  // is true if that word may be on another stack.
  ChainEnd EndOfUnreadable(bool is_other_stack) const {
    const bool is_near = unreadable_ >= start() && unreadable_ - end() < kStackReach;
    const bool is_across = unreadable_ < end() && unreadable_ >= start();
    if (is_near || is_across) return ChainEnd::kStackTooShort;
    return is_other_stack ? ChainEnd::kStackSwitch : ChainEnd::kBadRegister;
  }

  // Prefetches from `address` on. The copied stack is in memory that was not read yet.
  void StartPrefetch(uint64_t address) {
    prefetched_ = address - stack_.start;
    Prefetch(address);
  }
  // Prefetches the stack from the end of the last prefetch to somewhat above `address`.
  void Prefetch(uint64_t address) {
    const uint64_t end = address - stack_.start + kPrefetch;
    // Skips the inside of large frames.
    if (end - prefetched_ > 2 * kPrefetch) prefetched_ = end - kPrefetch;
    const uint64_t last = std::min<uint64_t>(end, stack_.bytes.size());
    for (; prefetched_ < last; prefetched_ += kCacheLine) {
      __builtin_prefetch(stack_.bytes.data() + prefetched_);
    }
  }

 private:
  static constexpr uint64_t kPrefetch = 256;  // bytes
  static constexpr uint64_t kCacheLine = 64;

  const StackBytes stack_;
  UnwindSpace& space_;
  const uint64_t word_;
  bool is_late_ = false;
  uint64_t unreadable_ = 0;  // address of the last failed read
  uint64_t prefetched_ = 0;  // number of stack bytes that were prefetched
};

}  // namespace profiler::symbolize

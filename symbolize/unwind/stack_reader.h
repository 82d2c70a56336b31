// Reads the stack of one sample: its copied bytes first, then the words of the rest of the stack, and
// other memory of the process if neither has the address.
//
// Reading a copied word is the fast path of unwinding, so it is inline and makes no virtual call.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/stack_words.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// A register that points at most this many bytes beyond the copied bytes may still point to the
// stack.
inline constexpr uint64_t kStackReach = uint64_t{64} << 20;

class StackReader final : public MemoryReader {
 public:
  // `word` is the size of a word on the stack in bytes, 4 or 8. `space` must outlive the reader.
  StackReader(StackBytes stack, UnwindSpace& space, uint64_t word)
      : stack_(stack), space_(space), word_(word), end_(stack.start + stack.bytes.size()) {
    if (word != StackWords::kWord) stack_.rest = nullptr;
    if (stack_.rest == nullptr) return;
    // Without the words in between, nothing beyond the copied bytes is known.
    if (stack_.rest->start() > end_) {
      stack_.rest = nullptr;
    } else if (stack_.rest->end() > end_) {
      end_ = stack_.rest->end();
      stack_.reaches_end = false;
    }
  }

  uint64_t start() const { return stack_.start; }
  // Returns the end of the known part of the stack.
  uint64_t end() const { return end_; }
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
    if (ReadWordsOfRest(address, bytes)) return true;
    if (space_.ReadMemory(address, bytes)) {
      is_late_ = true;
      return true;
    }
    unreadable_ = address;
    return false;
  }

  // Reads a word of type `Word` from the copied bytes, or from the words of the rest of the stack.
  // Returns false if neither has it all.
  template <class Word>
  bool ReadCopied(uint64_t address, uint64_t* word) const {
    const uint64_t offset = address - stack_.start;
    const uint64_t size = stack_.bytes.size();
    if (offset >= size || sizeof(Word) > size - offset) [[unlikely]]
      return ReadRest(address, word);
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

  // Makes words that were left out of the rest of the stack unreadable, for readers that need words
  // other than addresses; or gives them as kNotAnAddress again.
  void RequireExactWords(bool required) { requires_exact_ = required; }

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
  // Reads a word of the rest of the stack. Returns false if it is not covered.
  [[gnu::noinline]] bool ReadRest(uint64_t address, uint64_t* word) const {
    if (stack_.rest == nullptr || !stack_.rest->Covers(address)) return false;
    const std::optional<uint64_t> found = stack_.rest->Find(address);
    if (!found && requires_exact_) return false;
    *word = found.value_or(kNotAnAddress);
    return true;
  }

  // Fills `bytes` with whole words of the rest of the stack. Returns false if they are not covered.
  bool ReadWordsOfRest(uint64_t address, std::span<std::byte> bytes) const {
    if (stack_.rest == nullptr || bytes.size() % StackWords::kWord != 0) return false;
    for (size_t i = 0; i < bytes.size(); i += StackWords::kWord) {
      uint64_t word = 0;
      if (!ReadCopied<uint64_t>(address + i, &word)) return false;
      std::memcpy(bytes.data() + i, &word, sizeof(word));
    }
    return true;
  }

  static constexpr uint64_t kPrefetch = 256;  // bytes
  static constexpr uint64_t kCacheLine = 64;

  StackBytes stack_;
  UnwindSpace& space_;
  const uint64_t word_;
  uint64_t end_;
  bool requires_exact_ = false;
  bool is_late_ = false;
  uint64_t unreadable_ = 0;  // address of the last failed read
  uint64_t prefetched_ = 0;  // number of stack bytes that were prefetched
};

}  // namespace profiler::symbolize

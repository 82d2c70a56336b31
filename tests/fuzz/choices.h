// Reads an input as a sequence of choices, for targets whose inputs are programs that build data.
// Every input is a valid program. The data that it builds are good, except for fields that it
// chooses to spoil.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

// A reader of choices. After the end of the input each choice is 0. `input` must outlive this.
class Choices {
 public:
  explicit Choices(std::span<const std::byte> input) : input_(input) {}

  bool ended() const { return at_ >= input_.size(); }

  uint8_t Byte() { return ended() ? uint8_t{0} : std::to_integer<uint8_t>(input_[at_++]); }
  bool Yes() { return (Byte() & 1) != 0; }
  // Returns a number below `bound`. A bound of 0 or 1 returns 0 and reads no input.
  size_t Below(size_t bound) {
    if (bound <= 1) return 0;
    size_t number = Byte();
    for (size_t rest = (bound - 1) >> 8; rest != 0; rest >>= 8) number = number << 8 | Byte();
    return number % bound;
  }
  template <class Range>
  const auto& OneOf(const Range& range) {
    return *std::next(std::begin(range), static_cast<ptrdiff_t>(Below(std::size(range))));
  }
  uint64_t Word() {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | Byte();
    return word;
  }
  // Returns a number that readers often handle wrongly, a number near `around`, or any number.
  uint64_t HardNumber(uint64_t around) {
    constexpr uint64_t kHard[] = {
        0,          1,          2,          4,          7,          8,          9,
        16,         0x7f,       0x80,       0xff,       0x100,      0xfff0,     0xffff,
        0x10000,    1 << 20,    1 << 28,    1 << 30,    1u << 31,   0x7fffffff, 0xffffffff,
        1ull << 32, 1ull << 48, 1ull << 61, 1ull << 63, ~0ull >> 1, ~0ull - 7,  ~0ull};
    const uint8_t kind = Byte();
    if (kind < 128) return kHard[kind % std::size(kHard)];
    if (kind < 252) return around + kind - 190;
    return Word();
  }
  // Returns the part of the input that is not read yet.
  std::span<const std::byte> Rest() const { return input_.subspan(at_); }

 private:
  std::span<const std::byte> input_;
  size_t at_ = 0;
};

// Returns `count` random programs of `size` bytes, as seeds. Every run gets the same programs.
std::vector<Bytes> ProgramsByChance(size_t count, size_t size);

}  // namespace profiler::fuzz

#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace profiler::fuzz {
namespace {

constexpr size_t kLongestPiece = 64;

}  // namespace

Bytes Mutator::Mutate(std::span<const Bytes> seeds) {
  Bytes input = seeds[Below(seeds.size())];
  const size_t changes = 1 + Below(4);
  for (size_t i = 0; i < changes; ++i) Change(seeds, &input);
  return input;
}

void Mutator::Change(std::span<const Bytes> seeds, Bytes* input) {
  const size_t at = Below(input->size());
  const size_t length = std::min(Below(kLongestPiece), input->size() - at);
  const auto begin = input->begin() + static_cast<ptrdiff_t>(at);
  const auto end = begin + static_cast<ptrdiff_t>(length);
  switch (Below(6)) {
    case 0:
      if (!input->empty()) (*input)[at] ^= std::byte(1 << Below(8));
      break;
    case 1:
    case 2:
      PutNumber(input);
      break;
    case 3:
      input->erase(begin, Below(4) == 0 ? input->end() : end);
      break;
    case 4: {
      const Bytes piece(begin, end);
      input->insert(begin, piece.begin(), piece.end());
      break;
    }
    default: {
      const Bytes& other = seeds[Below(seeds.size())];
      const size_t from = Below(other.size());
      const size_t size = std::min({Below(kLongestPiece), other.size() - from, input->size() - at});
      std::copy_n(other.begin() + static_cast<ptrdiff_t>(from), size, begin);
    }
  }
}

// Writes a number of 1, 2, 4 or 8 bytes, mostly at aligned offsets.
void Mutator::PutNumber(Bytes* input) {
  constexpr uint64_t kHard[] = {0,      1,      7,          8,          0x7f,       0x80,
                                0xff,   0x7fff, 0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
                                1 << 7, 1 << 9, 1ull << 61, 1ull << 63, UINT64_MAX, UINT64_MAX - 7};
  const uint64_t number =
      Below(4) == 0 ? Below(input->size() + 64) : kHard[Below(std::size(kHard))];
  const size_t width = size_t{1} << Below(4);
  if (input->size() < width) return;
  size_t at = Below(input->size() - width + 1);
  if (Below(4) != 0) at = at / width * width;
  std::memcpy(input->data() + at, &number, width);
}

}  // namespace profiler::fuzz

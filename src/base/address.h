// The three kinds of address that a profiler mixes up, as types that do not convert into one
// another, and the place of code in its image, which is one of two of them.
//
//   RuntimeAddress   where an instruction was when it ran      (sample ip, call chain entry)
//   FileOffset       where its bytes are in the image's file   (MMAP2 pgoff + into the mapping)
//   ElfAddress       what its image calls it (p_vaddr space)   (symbol values, DWARF, CFI)
//
//   CodePlace        FileOffset, or RuntimeAddress where the image has no file
//
//   FileOffset = RuntimeAddress − mapping.start + mapping.pgoff
//   ElfAddress = FileOffset − p_offset + p_vaddr   of the PT_LOAD segment that holds the offset

#pragma once

#include <cassert>
#include <compare>
#include <cstdint>

namespace profiler {

struct RuntimeAddress {
  uint64_t value = 0;
  auto operator<=>(const RuntimeAddress&) const = default;
};

struct FileOffset {
  uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

struct ElfAddress {
  uint64_t value = 0;
  auto operator<=>(const ElfAddress&) const = default;
};

// The place of code: an offset in the file of its image, or the address where it ran. The address
// is the place of code that is not looked up in a file (the kernel, its modules, BPF programs,
// memory that a JIT fills) and of code in no known image. All places in one image are of one kind.
struct CodePlace {
  uint64_t value = 0;  // of either kind; the order of places in one image
  bool in_file = false;

  constexpr CodePlace() = default;
  // The conversions are implicit: who has either type has said which kind of place it is.
  constexpr CodePlace(FileOffset offset) : value(offset.value), in_file(true) {}
  constexpr CodePlace(RuntimeAddress address) : value(address.value) {}
  auto operator<=>(const CodePlace&) const = default;

  // Each may be asked only of a place of its kind.
  FileOffset offset() const {
    assert(in_file);
    return {value};
  }
  RuntimeAddress address() const {
    assert(!in_file);
    return {value};
  }
};

// The place `distance` bytes further on. Sums wrap, so a negative distance leads back.
inline CodePlace operator+(CodePlace place, uint64_t distance) {
  place.value += distance;
  return place;
}
// The distance from `b` to `a`, which are of one image. Differences wrap as well.
inline uint64_t operator-(CodePlace a, CodePlace b) {
  assert(a.in_file == b.in_file);
  return a.value - b.value;
}

}  // namespace profiler

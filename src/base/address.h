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

// Where in its image code is: at an offset in the image's file; or where it ran, if the image is no
// file (the kernel, its modules, BPF programs, memory that a JIT fills), or if no image is known.
// All places of one image are of one kind. Trivially copied.
struct CodePlace {
  uint64_t value = 0;  // of either kind: for texts that show both, and for orders within one image
  bool in_file = false;

  constexpr CodePlace() = default;
  // Implicit, for whoever has one of the two types has said which kind of place it is.
  constexpr CodePlace(FileOffset offset) : value(offset.value), in_file(true) {}
  constexpr CodePlace(RuntimeAddress address) : value(address.value) {}
  auto operator<=>(const CodePlace&) const = default;

  // To be asked for only where the place is of that kind.
  FileOffset offset() const {
    assert(in_file);
    return {value};
  }
  RuntimeAddress address() const {
    assert(!in_file);
    return {value};
  }
};

// So many bytes further on in the same image; modulo 2^64, so that it goes back as well.
inline CodePlace operator+(CodePlace place, uint64_t distance) {
  place.value += distance;
  return place;
}
// From `b` to `a`, both in one image; modulo 2^64.
inline uint64_t operator-(CodePlace a, CodePlace b) {
  assert(a.in_file == b.in_file);
  return a.value - b.value;
}

}  // namespace profiler

// Types for three kinds of address. They do not convert into one another, so that the compiler
// finds mix-ups. A CodePlace, the address of code within its image, holds an address of one of two
// kinds.
//
//   RuntimeAddress   where an instruction was when it ran      (sample ip, call chain entry)
//   FileOffset       where its bytes are in the image's file   (pgoff + offset in the mapping)
//   ElfAddress       its address in the image (p_vaddr)        (symbol values, DWARF, CFI)
//
//   CodePlace        FileOffset, or RuntimeAddress if the image has no file
//
//   FileOffset = RuntimeAddress − mapping.start + mapping.pgoff
//   ElfAddress = FileOffset − p_offset + p_vaddr   of the PT_LOAD segment that holds the offset

#pragma once

#include <cassert>
#include <compare>
#include <cstdint>

namespace profiler {

// Bytes to which mappings and segments are aligned at least.
inline constexpr uint64_t kPage = 4096;

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

// The address of code within its image: an offset in the image's file, or the address where the
// code ran. The latter is used for code that is not looked up in a file (the kernel, its modules,
// BPF programs, memory filled by a JIT) and for code in no known image. All places in one image are
// of the same kind.
struct CodePlace {
  // A file offset or a runtime address. The places of one image are ordered by this value.
  uint64_t value = 0;
  bool in_file = false;

  constexpr CodePlace() = default;
  // Implicit, because the type of the argument already says which kind of place it is.
  constexpr CodePlace(FileOffset offset) : value(offset.value), in_file(true) {}
  constexpr CodePlace(RuntimeAddress address) : value(address.value) {}
  auto operator<=>(const CodePlace&) const = default;

  // Return the value with its type. Call offset() only if in_file is true, and address() only if it
  // is false.
  FileOffset offset() const {
    assert(in_file);
    return {value};
  }
  RuntimeAddress address() const {
    assert(!in_file);
    return {value};
  }
};

// Returns the place `distance` bytes further on. The sum wraps, so a negative distance leads back.
inline CodePlace operator+(CodePlace place, uint64_t distance) {
  place.value += distance;
  return place;
}
// Returns the distance from `b` to `a`, which must be places of one image. The difference wraps.
inline uint64_t operator-(CodePlace a, CodePlace b) {
  assert(a.in_file == b.in_file);
  return a.value - b.value;
}

}  // namespace profiler

// The three kinds of address that a profiler mixes up, as types that do not convert into one
// another.
//
//   RuntimeAddress   where an instruction was when it ran      (sample ip, call chain entry)
//   FileOffset       where its bytes are in the image's file   (MMAP2 pgoff + distance into the
//   mapping) ElfAddress       what its image calls it (p_vaddr space)   (symbol values, DWARF, CFI)
//
//   FileOffset = RuntimeAddress − mapping.start + mapping.pgoff
//   ElfAddress = FileOffset − p_offset + p_vaddr   of the PT_LOAD segment that holds the offset

#pragma once

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

}  // namespace profiler

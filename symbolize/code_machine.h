// Encodes the instruction set of code in the 16 bits of CodeBytes::machine: the EM_… number of
// <elf.h>, and bits for properties that this number does not distinguish.

#pragma once

#include <cstdint>

namespace profiler::symbolize {

inline constexpr uint16_t kThumbCode = 1 << 14;      // set only with EM_ARM
inline constexpr uint16_t kBigEndianCode = 1 << 15;  // set only with EM_PPC64, EM_PPC and EM_MIPS
inline constexpr uint16_t k64BitCode = 1 << 13;      // set only with EM_MIPS

// Returns the EM_… number in `machine`.
constexpr uint16_t ElfMachineOf(uint16_t machine) {
  return machine & ~(kThumbCode | kBigEndianCode | k64BitCode);
}

}  // namespace profiler::symbolize

// Makes compressed data that is small and claims to be large.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profiler::tests {

// Return `zeros` zero bytes, compressed. ZlibSection and ZstdSection return contents of a section
// with SHF_COMPRESSED, whose header claims `claimed` bytes. XzOfZeros fits .gnu_debugdata.
std::vector<std::byte> ZlibSection(uint64_t zeros, uint64_t claimed);
std::vector<std::byte> ZstdSection(uint64_t zeros, uint64_t claimed);
std::vector<std::byte> XzOfZeros(uint64_t zeros);
std::vector<std::byte> ZstdOfZeros(uint64_t zeros);

std::vector<std::byte> Xz(const std::vector<std::byte>& bytes);

}  // namespace profiler::tests

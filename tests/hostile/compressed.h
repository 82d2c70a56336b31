// Bytes that are small and claim to be large.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profiler::tests {

// So many zeros. The zlib one is the contents of a section with SHF_COMPRESSED, whose header claims
// `claimed` bytes; the others are as they are in .gnu_debugdata and with ELFCOMPRESS_ZSTD.
std::vector<std::byte> ZlibSection(uint64_t zeros, uint64_t claimed);
std::vector<std::byte> ZstdSection(uint64_t zeros, uint64_t claimed);
std::vector<std::byte> XzOfZeros(uint64_t zeros);
std::vector<std::byte> ZstdOfZeros(uint64_t zeros);

std::vector<std::byte> Xz(const std::vector<std::byte>& bytes);

}  // namespace profiler::tests

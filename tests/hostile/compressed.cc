#include "tests/hostile/compressed.h"

#include <elf.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace profiler::tests {
namespace {

constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, missing in older headers
constexpr size_t kPiece = size_t{1} << 20;

std::vector<std::byte> Section(uint32_t type, uint64_t claimed,
                               const std::vector<std::byte>& data) {
  const Elf64_Chdr header{.ch_type = type, .ch_reserved = 0, .ch_size = claimed, .ch_addralign = 1};
  std::vector<std::byte> section(sizeof(header) + data.size());
  std::memcpy(section.data(), &header, sizeof(header));
  std::copy(data.begin(), data.end(), section.begin() + sizeof(header));
  return section;
}

// Compresses zeros by calls of `step(input, size, is_last, output, room)`. Each call returns the
// number of bytes that it wrote to `output`.
template <class Step>
std::vector<std::byte> Compress(uint64_t zeros, Step step) {
  const std::vector<std::byte> input(kPiece);
  std::vector<std::byte> piece(kPiece), all;
  while (zeros > 0) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(zeros, kPiece));
    zeros -= size;
    const size_t made = step(input.data(), size, zeros == 0, piece.data(), piece.size());
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(made));
  }
  return all;
}

}  // namespace

std::vector<std::byte> ZlibSection(uint64_t zeros, uint64_t claimed) {
  z_stream stream{};
  deflateInit(&stream, 1);
  const auto data =
      Compress(zeros, [&](const void* in, size_t size, bool last, void* out, size_t room) {
        stream.next_in = static_cast<Bytef*>(const_cast<void*>(in));
        stream.avail_in = static_cast<uInt>(size);
        stream.next_out = static_cast<Bytef*>(out);
        stream.avail_out = static_cast<uInt>(room);
        deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        return room - stream.avail_out;
      });
  deflateEnd(&stream);
  return Section(ELFCOMPRESS_ZLIB, claimed, data);
}

std::vector<std::byte> ZstdOfZeros(uint64_t zeros) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  auto data = Compress(zeros, [&](const void* in, size_t size, bool last, void* out, size_t room) {
    ZSTD_inBuffer input{in, size, 0};
    ZSTD_outBuffer output{out, room, 0};
    ZSTD_compressStream2(context, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
    return output.pos;
  });
  ZSTD_freeCCtx(context);
  return data;
}

std::vector<std::byte> ZstdSection(uint64_t zeros, uint64_t claimed) {
  return Section(kZstd, claimed, ZstdOfZeros(zeros));
}

std::vector<std::byte> XzOfZeros(uint64_t zeros) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_easy_encoder(&stream, 0, LZMA_CHECK_NONE) != LZMA_OK) return {};
  auto data = Compress(zeros, [&](const void* in, size_t size, bool last, void* out, size_t room) {
    stream.next_in = static_cast<const uint8_t*>(in);
    stream.avail_in = size;
    stream.next_out = static_cast<uint8_t*>(out);
    stream.avail_out = room;
    const lzma_ret result = lzma_code(&stream, last ? LZMA_FINISH : LZMA_RUN);
    return result <= LZMA_STREAM_END ? room - stream.avail_out : 0;
  });
  lzma_end(&stream);
  return data;
}

std::vector<std::byte> Xz(const std::vector<std::byte>& bytes) {
  std::vector<std::byte> out(lzma_stream_buffer_bound(bytes.size()));
  size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      0, LZMA_CHECK_NONE, nullptr, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
      reinterpret_cast<uint8_t*>(out.data()), &size, out.size());
  out.resize(result == LZMA_OK ? size : 0);
  return out;
}

}  // namespace profiler::tests

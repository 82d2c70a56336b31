#include "src/views/interchange/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>

namespace profiler::exports {

std::string Gzip(std::string_view text, int level) {
  constexpr int kGzipWrapper = 16 + MAX_WBITS;
  constexpr int kMemory = 8;  // zlib's default
  z_stream stream{};
  [[maybe_unused]] const int begun =
      deflateInit2(&stream, level, Z_DEFLATED, kGzipWrapper, kMemory, Z_DEFAULT_STRATEGY);
  assert(begun == Z_OK);
  std::string packed;
  std::array<char, size_t{1} << 16> piece;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t taken = std::min<size_t>(text.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(taken);
    const bool last = taken == text.size();
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = piece.size();
      state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      packed.append(piece.data(), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    text.remove_prefix(taken);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace profiler::exports

#include "src/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "absl/strings/str_cat.h"

namespace profiler {
namespace {

constexpr int kGzipWrapper = 16 + MAX_WBITS;  // window bits; the added 16 means gzip only

constexpr size_t kMost = size_t{2} << 30;
// Limit for the ratio of the inflated size to the size of the file. JSON of many equal parts
// reaches a ratio of 100, and DEFLATE at most about 1000.
constexpr size_t kMostTimes = 300;
constexpr size_t kAlways = size_t{16} << 20;
constexpr size_t kStep = size_t{1} << 20;

class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : bytes_(bytes) {
    is_ready_ = inflateInit2(&stream_, kGzipWrapper) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }

  enum class End { kWhole, kFull, kDamaged, kCut };

  // Inflates until `out` has `most` bytes.
  End Inflate(size_t most, std::string& out) {
    if (!is_ready_) return End::kDamaged;
    while (out.size() < most) {
      const size_t before = out.size();
      out.resize(std::min(most, before + kStep));
      Feed();
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(out.size() - before);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      out.resize(out.size() - stream_.avail_out);
      const size_t read = fed_ - stream_.avail_in;
      bytes_.remove_prefix(read);
      if (result == Z_STREAM_END) {
        if (!IsGzip(bytes_)) return End::kWhole;
        if (inflateReset(&stream_) != Z_OK) return End::kDamaged;
      } else if (result == Z_BUF_ERROR ||
                 (result == Z_OK && bytes_.empty() && out.size() == before)) {
        return End::kCut;
      } else if (result != Z_OK) {
        return End::kDamaged;
      }
    }
    return End::kFull;
  }

  // Returns the number of input bytes that are not inflated yet.
  size_t rest() const { return bytes_.size(); }

 private:
  void Feed() {
    fed_ = std::min<size_t>(bytes_.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data()));
    stream_.avail_in = static_cast<uInt>(fed_);
  }

  std::string_view bytes_;
  z_stream stream_ = {};
  size_t fed_ = 0;
  bool is_ready_ = false;
};

}  // namespace

std::string Gzip(std::string_view text, int level) {
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

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

absl::StatusOr<std::string> Gunzip(std::string_view bytes) {
  const size_t most = std::min(kMost, std::max(kAlways, bytes.size() * kMostTimes));
  Inflater inflater(bytes);
  std::string out;
  switch (inflater.Inflate(most, out)) {
    case Inflater::End::kWhole:
      return out;
    case Inflater::End::kFull:
      return absl::ResourceExhaustedError(
          absl::StrCat("gzip: it inflates to more than ", most, " bytes, which are not read"));
    case Inflater::End::kCut:
      return absl::DataLossError(
          absl::StrCat("gzip: cut: it ends after ", bytes.size(), " bytes, in the middle"));
    case Inflater::End::kDamaged:
      break;
  }
  return absl::DataLossError(
      absl::StrCat("gzip: damaged at offset ", bytes.size() - inflater.rest()));
}

std::string GunzipStart(std::string_view bytes, size_t size) {
  std::string out;
  Inflater(bytes).Inflate(size, out);
  return out;
}

}  // namespace profiler

#include "src/machine/image_ids/htlhash.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/sha256.h"
#include "src/base/text.h"

namespace profiler::image_ids {

std::string HtlhashOfFd(int fd) {
  constexpr off_t kPiece = 4096;
  constexpr size_t kId = 16;
  struct stat file;
  if (fstat(fd, &file) != 0) return {};
  std::vector<std::byte> input;
  const off_t piece = std::min(kPiece, file.st_size);
  for (const off_t offset : {off_t{0}, file.st_size - piece}) {
    const size_t begin = input.size();
    input.resize(begin + static_cast<size_t>(piece));
    if (pread(fd, input.data() + begin, static_cast<size_t>(piece), offset) != piece) return {};
  }
  const auto length = static_cast<uint64_t>(file.st_size);
  for (int shift = 56; shift >= 0; shift -= 8) {
    input.push_back(static_cast<std::byte>(length >> shift & 0xff));
  }
  const auto digest = Sha256(input);
  return HexOf(std::span(digest).first(kId));
}

}  // namespace profiler::image_ids

#include "symbolize/unwind/arch/frame_state.h"

namespace profiler::symbolize {

std::optional<int32_t> Deeper(std::optional<int32_t> depth, int64_t bytes) {
  constexpr int64_t kMostDepth = int64_t{1} << 30;  // larger frames are not followed
  if (!depth) return std::nullopt;
  if (bytes > kMostDepth || bytes < -kMostDepth) return std::nullopt;
  const int64_t deeper = *depth + bytes;
  // A negative depth is above the CFA, in the caller's frame.
  if (deeper < 0 || deeper > kMostDepth) return std::nullopt;
  return static_cast<int32_t>(deeper);
}

}  // namespace profiler::symbolize

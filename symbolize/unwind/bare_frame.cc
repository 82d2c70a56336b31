#include "symbolize/unwind/bare_frame.h"

#include <algorithm>
#include <array>

namespace profiler::symbolize {
namespace {

constexpr std::array<uint8_t, 4> kEndBranch = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
constexpr uint8_t kPushFp = 0x55;                                        // push rbp
// mov rbp, rsp, in either encoding.
constexpr std::array<uint8_t, 3> kMoveStore = {0x48, 0x89, 0xe5};
constexpr std::array<uint8_t, 3> kMoveLoad = {0x48, 0x8b, 0xec};
constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kReturnAndPop = 0xc2;

template <size_t size>
bool BeginsWith(std::span<const uint8_t> code, const std::array<uint8_t, size>& instruction) {
  return std::equal(instruction.begin(), instruction.end(), code.begin());
}

}  // namespace

std::optional<uint32_t> ReturnAddressAt(Architecture architecture,
                                        std::span<const uint8_t, kBareFrameCode> code) {
  if (architecture != Architecture::kX86_64) return std::nullopt;
  const uint8_t first = code[0];
  if (BeginsWith(code, kEndBranch) || first == kPushFp || first == kReturn ||
      first == kReturnAndPop) {
    return 0;
  }
  if (BeginsWith(code, kMoveStore) || BeginsWith(code, kMoveLoad)) return 1;
  return std::nullopt;
}

}  // namespace profiler::symbolize

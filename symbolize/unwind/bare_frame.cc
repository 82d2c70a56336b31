#include "symbolize/unwind/bare_frame.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "symbolize/unwind/aarch64_code.h"

namespace profiler::symbolize {
namespace {

using Code = std::span<const uint8_t>;

constexpr uint64_t kWord = 8;
constexpr std::array<uint8_t, 4> kEndBranch = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
constexpr uint8_t kPushFp = 0x55;                                        // push rbp
// mov rbp, rsp, in either encoding.
constexpr std::array<uint8_t, 3> kMoveStore = {0x48, 0x89, 0xe5};
constexpr std::array<uint8_t, 3> kMoveLoad = {0x48, 0x8b, 0xec};
constexpr std::array<uint8_t, 3> kSubtractByte = {0x48, 0x83, 0xec};  // sub rsp, imm8
constexpr std::array<uint8_t, 3> kAddByte = {0x48, 0x83, 0xc4};       // add rsp, imm8
constexpr std::array<uint8_t, 3> kAddWord = {0x48, 0x81, 0xc4};       // add rsp, imm32
constexpr uint8_t kPop = 0x58;                                        // and the register
constexpr uint8_t kPopOfUpper = 0x41;                                 // pop r8 … r15, then kPop
constexpr uint8_t kStackPointer = 4, kFramePointer = 5;
constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kReturnAndPop = 0xc2;
constexpr std::array<uint8_t, 2> kLongReturn = {0xf3, 0xc3};  // rep ret

template <size_t size>
bool BeginsWith(Code code, const std::array<uint8_t, size>& instruction) {
  return code.size() >= size && std::equal(instruction.begin(), instruction.end(), code.begin());
}

// The length of a call through a register; 0 for all else.
size_t LengthOfCall(Code code) {
  const size_t prefix = code[0] == 0x41 ? 1 : 0;
  return code[prefix] == 0xff && (code[prefix + 1] & 0xf8) == 0xd0 ? prefix + 2 : 0;
}

// The first instructions of a function.
std::optional<WayBack> WayBackFromStart(Code code) {
  if (BeginsWith(code, kEndBranch) || code[0] == kPushFp || BeginsWith(code, kSubtractByte)) {
    return WayBack{0, std::nullopt};
  }
  if (BeginsWith(code, kMoveStore) || BeginsWith(code, kMoveLoad)) return WayBack{1, 0};
  return std::nullopt;
}

// What takes a frame down, up to the return.
std::optional<WayBack> WayBackToReturn(Code code) {
  WayBack back;
  while (code.size() >= sizeof(uint64_t)) {
    const auto add = [&](int64_t bytes, size_t length) {
      if (bytes < 0 || bytes % kWord != 0) return false;
      back.return_address += static_cast<uint64_t>(bytes) / kWord;
      code = code.subspan(length);
      return true;
    };
    if (code[0] == kReturn || code[0] == kReturnAndPop || BeginsWith(code, kLongReturn)) {
      return back;
    }
    if (BeginsWith(code, kAddByte)) {
      if (!add(static_cast<int8_t>(code[3]), 4)) return std::nullopt;
    } else if (BeginsWith(code, kAddWord)) {
      int32_t bytes;
      std::memcpy(&bytes, &code[3], sizeof(bytes));
      if (!add(bytes, 7)) return std::nullopt;
    } else if (code[0] == kPopOfUpper && (code[1] & 0xf8) == kPop) {
      add(kWord, 2);
    } else if ((code[0] & 0xf8) == kPop && (code[0] & 7) != kStackPointer) {
      if ((code[0] & 7) == kFramePointer) back.frame_pointer = back.return_address;
      add(kWord, 1);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<WayBack> WayBackOf(Architecture architecture,
                                 std::span<const uint8_t, kBareFrameCode> code,
                                 bool is_interrupted) {
  if (architecture == Architecture::kAArch64) return WayBackOnAArch64(code, is_interrupted);
  if (!is_interrupted) return WayBackToReturn(code);
  if (const auto back = WayBackFromStart(code)) return back;
  return WayBackToReturn(Code(code).subspan(LengthOfCall(code)));
}

}  // namespace profiler::symbolize

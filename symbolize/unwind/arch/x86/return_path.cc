#include "symbolize/unwind/arch/return_path.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "symbolize/unwind/arch/x86/x86.h"

namespace profiler::symbolize::x86 {
namespace {

using Code = std::span<const uint8_t>;

// Encodings of x86-64 instructions. On i386 they are the same without kWide.
constexpr std::array<uint8_t, 3> kEndBranch = {0xf3, 0x0f, 0x1e};
constexpr uint8_t kEndBranch64 = 0xfa, kEndBranch32 = 0xfb;  // last byte of endbr64 and endbr32
constexpr uint8_t kPushFp = 0x55;                            // push rbp
constexpr uint8_t kWide = 0x48;                              // prefix of 64-bit instructions
// mov rbp, rsp in both encodings
constexpr std::array<uint8_t, 2> kMoveStore = {0x89, 0xe5};
constexpr std::array<uint8_t, 2> kMoveLoad = {0x8b, 0xec};
constexpr std::array<uint8_t, 2> kSubtractByte = {0x83, 0xec};  // sub rsp, imm8
constexpr std::array<uint8_t, 2> kAddByte = {0x83, 0xc4};       // add rsp, imm8
constexpr std::array<uint8_t, 2> kAddWord = {0x81, 0xc4};       // add rsp, imm32
constexpr uint8_t kPop = 0x58;                                  // the low 3 bits are the register
constexpr uint8_t kUpper = 0x41;                                // prefix of r8 … r15
constexpr uint8_t kStackPointer = 4, kFramePointer = 5;
constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kReturnAndPop = 0xc2;
constexpr std::array<uint8_t, 2> kLongReturn = {0xf3, 0xc3};  // rep ret

template <size_t size>
bool BeginsWith(Code code, const std::array<uint8_t, size>& instruction) {
  return code.size() >= size && std::equal(instruction.begin(), instruction.end(), code.begin());
}

// Returns the instruction without the prefix of 64-bit instructions. Empty if it has no prefix. On
// i386, returns the instruction unchanged.
Code OfFullWidth(Mode mode, Code code) {
  if (mode == Mode::k32Bit) return code;
  return code[0] == kWide ? code.subspan(1) : Code();
}

// Returns the length of a call through a register; 0 for other instructions.
size_t LengthOfCall(Mode mode, Code code) {
  const bool is_upper = mode == Mode::k64Bit && code[0] == kUpper;
  const size_t prefix = is_upper ? 1 : 0;
  return code[prefix] == 0xff && (code[prefix + 1] & 0xf8) == 0xd0 ? prefix + 2 : 0;
}

// Recognizes the first instructions of a function.
std::optional<ReturnPath> ReturnPathFromStart(Mode mode, Code code) {
  const uint8_t end_branch = mode == Mode::k32Bit ? kEndBranch32 : kEndBranch64;
  const bool is_end_branch = BeginsWith(code, kEndBranch) && code[kEndBranch.size()] == end_branch;
  const Code wide = OfFullWidth(mode, code);
  if (is_end_branch || code[0] == kPushFp || BeginsWith(wide, kSubtractByte)) {
    return ReturnPath{0, std::nullopt};
  }
  if (BeginsWith(wide, kMoveStore) || BeginsWith(wide, kMoveLoad)) return ReturnPath{1, 0};
  return std::nullopt;
}

// Follows the instructions that remove a frame, up to the return.
std::optional<ReturnPath> ReturnPathToReturn(Mode mode, Code code) {
  const uint64_t word = WordOf(mode);
  ReturnPath back;
  while (code.size() >= sizeof(uint64_t)) {
    const Code wide = OfFullWidth(mode, code);
    const auto add = [&](int64_t bytes, Code behind) {
      if (bytes < 0 || static_cast<uint64_t>(bytes) % word != 0) return false;
      back.return_address += static_cast<uint64_t>(bytes) / word;
      code = behind;
      return true;
    };
    if (code[0] == kReturn || code[0] == kReturnAndPop || BeginsWith(code, kLongReturn)) {
      return back;
    }
    if (BeginsWith(wide, kAddByte)) {
      if (!add(static_cast<int8_t>(wide[2]), wide.subspan(3))) return std::nullopt;
    } else if (BeginsWith(wide, kAddWord)) {
      int32_t bytes;
      std::memcpy(&bytes, &wide[2], sizeof(bytes));
      if (!add(bytes, wide.subspan(6))) return std::nullopt;
    } else if (mode == Mode::k64Bit && code[0] == kUpper && (code[1] & 0xf8) == kPop) {
      add(static_cast<int64_t>(word), code.subspan(2));
    } else if ((code[0] & 0xf8) == kPop && (code[0] & 7) != kStackPointer) {
      if ((code[0] & 7) == kFramePointer) back.frame_pointer = back.return_address;
      add(static_cast<int64_t>(word), code.subspan(1));
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ReturnPath> FindReturnPath(Mode mode, std::span<const uint8_t, kBareFrameCode> code,
                                         bool is_interrupted) {
  if (!is_interrupted) return ReturnPathToReturn(mode, code);
  if (const auto back = ReturnPathFromStart(mode, code)) return back;
  return ReturnPathToReturn(mode, Code(code).subspan(LengthOfCall(mode, code)));
}

}  // namespace profiler::symbolize::x86

#include "symbolize/unwind/call_instruction.h"

#include <cstring>

namespace profiler::symbolize {
namespace {

// call rel32: e8 and four bytes
constexpr uint8_t kCallRelative = 0xe8;
constexpr size_t kCallRelativeSize = 5;

// Returns the length of an instruction: opcode byte, ModRM, optional SIB and displacement.
size_t LengthWithModRm(uint8_t modrm, uint8_t sib) {
  constexpr size_t kOpcodeAndModRm = 2;
  const unsigned mode = modrm >> 6;
  const unsigned operand = modrm & 7;
  if (mode == 3) return kOpcodeAndModRm;
  const size_t sib_size = operand == 4 ? 1 : 0;
  const bool has_no_base = mode == 0 && (operand == 5 || (operand == 4 && (sib & 7) == 5));
  const size_t displacement = mode == 2 || has_no_base ? 4 : mode == 1 ? 1 : 0;
  return kOpcodeAndModRm + sib_size + displacement;
}

// Returns true for ff /2: call with a register or memory operand.
bool EndsInIndirectCall(std::span<const uint8_t, kLongestCall> code) {
  for (size_t length = 2; length < code.size(); ++length) {
    const size_t at = code.size() - length;
    const uint8_t modrm = code[at + 1];
    const uint8_t sib = length > 2 ? code[at + 2] : 0;
    if (code[at] == 0xff && (modrm >> 3 & 7) == 2 && LengthWithModRm(modrm, sib) == length) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool EndsInCall(Architecture architecture, std::span<const uint8_t, kLongestCall> code) {
  if (architecture != Architecture::kAArch64) {
    return code[kLongestCall - kCallRelativeSize] == kCallRelative || EndsInIndirectCall(code);
  }
  uint32_t last = 0;
  std::memcpy(&last, code.data() + kLongestCall - sizeof(last), sizeof(last));
  const bool is_bl = last >> 26 == 0x25;
  // blr, and blraa … blrabz, which check a signature.
  const bool is_blr = (last & 0xfefff000) == 0xd63f0000;
  return is_bl || is_blr;
}

}  // namespace profiler::symbolize

// Decodes x86-64 instructions, for callers that look for only a few of them.

#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace profiler::symbolize {

struct X86_64Instruction {
  ZydisDecodedInstruction facts{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
};

// Decodes the first instruction and removes it from `code`. Returns nullopt if the bytes are no
// instruction, or end within one. Thread-safe.
inline std::optional<X86_64Instruction> TakeX86_64Instruction(std::span<const uint8_t>& code) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  std::optional<X86_64Instruction> taken(std::in_place);
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &taken->facts,
                                           taken->operands.data()))) {
    return std::nullopt;
  }
  code = code.subspan(taken->facts.length);
  return taken;
}

// True if the operand is that register.
inline bool IsRegister(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

}  // namespace profiler::symbolize

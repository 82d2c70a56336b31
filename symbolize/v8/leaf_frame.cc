#include "symbolize/v8/leaf_frame.h"

#include <Zydis/Zydis.h>

namespace profiler::symbolize::v8 {
namespace {

// Largest number of instructions up to the end of a prologue or epilogue that has begun.
constexpr int kLongest = 12;

const ZydisDecoder& Decoder() {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return decoder;
}

bool IsOf(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

}  // namespace

bool HasFrame(std::span<const uint8_t> code) {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  for (int i = 0; i < kLongest && !code.empty(); ++i) {
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&Decoder(), code.data(), code.size(), &instruction, operands))) {
      return i > 0;  // the bytes end within an instruction
    }
    switch (instruction.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH:
        if (IsOf(operands[0], ZYDIS_REGISTER_RBP)) return false;
        break;
      case ZYDIS_MNEMONIC_MOV:
        if (IsOf(operands[0], ZYDIS_REGISTER_RBP)) return false;
        if (IsOf(operands[0], ZYDIS_REGISTER_RSP)) return true;
        break;
      case ZYDIS_MNEMONIC_POP:
        if (IsOf(operands[0], ZYDIS_REGISTER_RBP)) return true;
        break;
      case ZYDIS_MNEMONIC_RET:
        return false;
      case ZYDIS_MNEMONIC_LEAVE:
      case ZYDIS_MNEMONIC_CALL:
      case ZYDIS_MNEMONIC_JMP:
      case ZYDIS_MNEMONIC_INT3:
        return true;
      default:
        break;
    }
    code = code.subspan(instruction.length);
  }
  return true;
}

}  // namespace profiler::symbolize::v8

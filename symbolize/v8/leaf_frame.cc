#include "symbolize/v8/leaf_frame.h"

#include "symbolize/x86_64_decoder.h"

namespace profiler::symbolize::v8 {
namespace {

// Largest number of instructions up to the end of a prologue or epilogue that has begun.
constexpr int kMostInstructions = 12;

}  // namespace

bool HasFrame(std::span<const uint8_t> code) {
  for (int i = 0; i < kMostInstructions && !code.empty(); ++i) {
    const auto instruction = TakeX86_64Instruction(code);
    if (!instruction) return i > 0;  // the bytes end within an instruction
    const ZydisDecodedOperand& operand = instruction->operands[0];
    switch (instruction->facts.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH:
        if (IsRegister(operand, ZYDIS_REGISTER_RBP)) return false;
        break;
      case ZYDIS_MNEMONIC_MOV:
        if (IsRegister(operand, ZYDIS_REGISTER_RBP)) return false;
        if (IsRegister(operand, ZYDIS_REGISTER_RSP)) return true;
        break;
      case ZYDIS_MNEMONIC_POP:
        if (IsRegister(operand, ZYDIS_REGISTER_RBP)) return true;
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
  }
  return true;
}

}  // namespace profiler::symbolize::v8

#include "symbolize/hotspot/leaf_frame.h"

#include "symbolize/hotspot/layout.h"
#include "symbolize/x86_64_decoder.h"

namespace profiler::symbolize::hotspot {
namespace {

// Largest number of instructions from the removal of a frame to `ret`, inclusive.
constexpr int kLongestEpilogue = 8;

// A decoded instruction.
class Decoded {
 public:
  // Decodes the first instruction and removes it from `code`.
  static std::optional<Decoded> Take(std::span<const uint8_t>& code) {
    const auto taken = TakeX86_64Instruction(code);
    return taken ? std::optional(Decoded(*taken)) : std::nullopt;
  }

  bool Is(ZydisMnemonic mnemonic) const { return taken_.facts.mnemonic == mnemonic; }
  bool IsOfRegister(ZydisMnemonic mnemonic, ZydisRegister reg) const {
    return Is(mnemonic) && IsRegister(taken_.operands[0], reg);
  }
  // Returns the number that the instruction subtracts from the stack pointer.
  std::optional<uint64_t> StackGrowth() const {
    if (!IsOfRegister(ZYDIS_MNEMONIC_SUB, ZYDIS_REGISTER_RSP)) return std::nullopt;
    const ZydisDecodedOperand& amount = taken_.operands[1];
    if (amount.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || amount.imm.value.s < 0) return std::nullopt;
    return amount.imm.value.u;
  }
  // Returns true if the instruction may be part of a safepoint poll, which changes no register that
  // matters.
  bool MayBePoll() const {
    switch (taken_.facts.mnemonic) {
      case ZYDIS_MNEMONIC_CMP:
      case ZYDIS_MNEMONIC_TEST:
      case ZYDIS_MNEMONIC_JNBE:
      case ZYDIS_MNEMONIC_JNZ:
      case ZYDIS_MNEMONIC_VZEROUPPER:
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_MOV:  // the address of the polled page
        return taken_.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               taken_.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
               taken_.operands[1].mem.base == ZYDIS_REGISTER_R15;
      default:
        return false;
    }
  }

 private:
  explicit Decoded(const X86_64Instruction& taken) : taken_(taken) {}

  X86_64Instruction taken_;
};

}  // namespace

std::optional<LeafFrame> FrameInPrologue(std::span<const uint8_t> code) {
  LeafFrame frame;
  uint64_t height = 0;  // bytes pushed since the call
  while (!code.empty()) {
    const auto decoded = Decoded::Take(code);
    if (!decoded) return std::nullopt;
    if (decoded->IsOfRegister(ZYDIS_MNEMONIC_PUSH, ZYDIS_REGISTER_RBP)) {
      height += kWord;
      frame.frame_pointer = height;
    } else if (decoded->Is(ZYDIS_MNEMONIC_PUSH)) {
      height += kWord;
    } else if (const auto growth = decoded->StackGrowth()) {
      height += *growth;
    } else if (decoded->Is(ZYDIS_MNEMONIC_POP) || decoded->Is(ZYDIS_MNEMONIC_RET) ||
               decoded->Is(ZYDIS_MNEMONIC_JMP)) {
      // A jump overwrites the first instructions of code that must not be entered any more.
      return std::nullopt;
    }
  }
  frame.return_address = height;
  if (frame.frame_pointer) frame.frame_pointer = height - *frame.frame_pointer;
  return frame;
}

std::optional<LeafFrame> FrameInEpilogue(std::span<const uint8_t> code) {
  LeafFrame frame;
  for (int i = 0; i < kLongestEpilogue && !code.empty(); ++i) {
    const auto decoded = Decoded::Take(code);
    if (!decoded) return std::nullopt;
    if (decoded->Is(ZYDIS_MNEMONIC_RET)) return frame;
    if (decoded->IsOfRegister(ZYDIS_MNEMONIC_POP, ZYDIS_REGISTER_RBP) && !frame.frame_pointer) {
      frame.frame_pointer = 0;
      frame.return_address = kWord;
    } else if (!decoded->MayBePoll()) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize::hotspot

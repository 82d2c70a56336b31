#include "symbolize/hotspot/leaf_frame.h"

#include <Zydis/Zydis.h>

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint64_t kWord = 8;
// Largest number of instructions from the removal of a frame to `ret`, inclusive.
constexpr int kLongestEpilogue = 8;

const ZydisDecoder& Decoder() {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return decoder;
}

// A decoded instruction.
class Decoded {
 public:
  // Decodes the first instruction and removes it from `code`.
  static std::optional<Decoded> Take(std::span<const uint8_t>& code) {
    Decoded decoded;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&Decoder(), code.data(), code.size(),
                                             &decoded.instruction_, decoded.operands_))) {
      return std::nullopt;
    }
    code = code.subspan(decoded.instruction_.length);
    return decoded;
  }

  bool Is(ZydisMnemonic mnemonic) const { return instruction_.mnemonic == mnemonic; }
  bool IsOfRegister(ZydisMnemonic mnemonic, ZydisRegister reg) const {
    return Is(mnemonic) && operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands_[0].reg.value == reg;
  }
  // Returns the number that the instruction subtracts from the stack pointer.
  std::optional<uint64_t> StackGrowth() const {
    if (!IsOfRegister(ZYDIS_MNEMONIC_SUB, ZYDIS_REGISTER_RSP)) return std::nullopt;
    if (operands_[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || operands_[1].imm.value.s < 0) {
      return std::nullopt;
    }
    return operands_[1].imm.value.u;
  }
  // Returns true if the instruction may be part of a safepoint poll, which changes no register that
  // matters.
  bool MayBePoll() const {
    switch (instruction_.mnemonic) {
      case ZYDIS_MNEMONIC_CMP:
      case ZYDIS_MNEMONIC_TEST:
      case ZYDIS_MNEMONIC_JNBE:
      case ZYDIS_MNEMONIC_JNZ:
      case ZYDIS_MNEMONIC_VZEROUPPER:
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_MOV:  // the address of the polled page
        return operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands_[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
               operands_[1].mem.base == ZYDIS_REGISTER_R15;
      default:
        return false;
    }
  }

 private:
  ZydisDecodedInstruction instruction_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
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

// Decodes instructions and tracks a function's frame along them:
//
//                      │ return address     │  CFA − 8     CFA: the stack pointer
//   push rbp           │ caller's rbp       │  CFA − 16         before the call
//   mov rbp, rsp       │                    │ ◀ rbp
//   sub rsp, 24        │ locals             │
//                      │                    │ ◀ rsp = CFA − 40
//
// A function that aligns its stack more than its callers do, as main does on i386, keeps the CFA in
// a register and saves this register. The distance by which it moves the stack pointer is unknown,
// so depths count from the aligned stack pointer:
//
//   lea ecx, [esp + 4]         │ return address         │  CFA − 4
//   and esp, -16               │ …                      │
//                              ├────────────────────────┤  depths count from here
//   push dword ptr [ecx - 4]   │ return address         │
//   push ebp                   │ caller's ebp           │ ◀ ebp
//   mov ebp, esp; push ecx     │ CFA                    │

#include "symbolize/unwind/arch/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>

#include "symbolize/unwind/arch/frame_state.h"
#include "symbolize/unwind/arch/x86/x86.h"

namespace profiler::symbolize::x86 {
namespace {

using Flow = InstructionFlow;

static_assert(ZYDIS_REGISTER_NONE == 0 && ZYDIS_REGISTER_MAX_VALUE <= UINT16_MAX,
              "FrameState::cfa_register");

ZydisMachineMode MachineModeOf(Mode mode) {
  return mode == Mode::k32Bit ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64;
}

ZydisDecoder MakeDecoder(Mode mode) {
  ZydisDecoder made;
  ZydisDecoderInit(&made, MachineModeOf(mode),
                   mode == Mode::k32Bit ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
  return made;
}

const ZydisDecoder& DecoderOf(Mode mode) {
  static const ZydisDecoder in_64_bits = MakeDecoder(Mode::k64Bit);
  static const ZydisDecoder in_32_bits = MakeDecoder(Mode::k32Bit);
  return mode == Mode::k32Bit ? in_32_bits : in_64_bits;
}

// Returns true for registers that functions must preserve for their callers.
bool IsCallersRegister(Mode mode, ZydisRegister reg) {
  constexpr std::array kIn64Bits = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                    ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
  constexpr std::array kIn32Bits = {ZYDIS_REGISTER_EBX, ZYDIS_REGISTER_EBP, ZYDIS_REGISTER_ESI,
                                    ZYDIS_REGISTER_EDI};
  const auto is_among = [reg](const auto& registers) {
    return std::find(registers.begin(), registers.end(), reg) != registers.end();
  };
  return mode == Mode::k32Bit ? is_among(kIn32Bits) : is_among(kIn64Bits);
}

// An instruction as Zydis decodes it.
class X86Instruction {
 public:
  bool Decode(Mode mode, std::span<const std::byte> code, ElfAddress address) {
    mode_ = mode;
    address_ = address;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&DecoderOf(mode), code.data(), code.size(),
                                               &instruction_, operands_));
  }

  size_t length() const { return instruction_.length; }
  bool IsPadding() const { return instruction_.mnemonic == ZYDIS_MNEMONIC_NOP; }
  bool Halts() const { return instruction_.mnemonic == ZYDIS_MNEMONIC_HLT; }
  bool Returns() const { return instruction_.meta.category == ZYDIS_CATEGORY_RET; }
  Flow flow() const;
  std::optional<ElfAddress> target() const;
  bool IsPrologue() const;
  void Apply(FrameState* state) const;

 private:
  int32_t Word() const { return static_cast<int32_t>(WordOf(mode_)); }
  bool IsI386() const { return mode_ == Mode::k32Bit; }
  ZydisRegister Sp() const { return IsI386() ? ZYDIS_REGISTER_ESP : ZYDIS_REGISTER_RSP; }
  ZydisRegister Fp() const { return IsI386() ? ZYDIS_REGISTER_EBP : ZYDIS_REGISTER_RBP; }
  bool IsRegister(size_t i, ZydisRegister reg) const {
    return operands_[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[i].reg.value == reg;
  }
  bool IsMemoryAt(size_t i, ZydisRegister base) const;
  bool Writes(ZydisRegister reg) const;
  int32_t StackWidth() const { return instruction_.operand_width / 8; }
  void Push(FrameState* state) const;
  void Pop(FrameState* state) const;
  void Load(FrameState* state) const;   // the effect of lea
  void Align(FrameState* state) const;  // the effect of and
  void Move(FrameState* state) const;   // the effect of mov
  void Leave(FrameState* state) const;
  void Clobber(FrameState* state) const;

  Mode mode_;
  ElfAddress address_;
  ZydisDecodedInstruction instruction_;
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
};

Flow X86Instruction::flow() const {
  switch (instruction_.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return target() ? Flow::kJump : Flow::kFarJump;
    case ZYDIS_CATEGORY_CALL:
      return Flow::kCall;
    case ZYDIS_CATEGORY_RET:
      return Flow::kEnd;
    default:
      break;
  }
  switch (instruction_.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return Flow::kEnd;
    default:
      return Flow::kNext;
  }
}

std::optional<ElfAddress> X86Instruction::target() const {
  if (instruction_.operand_count == 0 || operands_[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
      operands_[0].imm.is_relative == 0) {
    return std::nullopt;
  }
  return ElfAddress{
      Wrapped(mode_, address_.value + instruction_.length + operands_[0].imm.value.u)};
}

bool X86Instruction::IsPrologue() const {
  switch (instruction_.mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:
      return true;
    case ZYDIS_MNEMONIC_PUSH:
      return operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             IsCallersRegister(mode_, operands_[0].reg.value);
    case ZYDIS_MNEMONIC_SUB:
      return IsRegister(0, Sp());
    default:
      return false;
  }
}

bool X86Instruction::IsMemoryAt(size_t i, ZydisRegister base) const {
  return operands_[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands_[i].mem.base == base &&
         operands_[i].mem.index == ZYDIS_REGISTER_NONE;
}

// Returns true if the instruction writes the register or a part of it.
bool X86Instruction::Writes(ZydisRegister reg) const {
  for (size_t i = 0; i < instruction_.operand_count; ++i) {
    const bool is_written = (operands_[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (is_written && operands_[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetLargestEnclosing(MachineModeOf(mode_), operands_[i].reg.value) == reg) {
      return true;
    }
  }
  return false;
}

void X86Instruction::Apply(FrameState* state) const {
  // Ignores calls before the CFA is saved: they only read the pc and keep the register.
  const bool has_cfa = state->cfa_register != ZYDIS_REGISTER_NONE;
  if (has_cfa && Writes(static_cast<ZydisRegister>(state->cfa_register)))
    state->cfa_register = ZYDIS_REGISTER_NONE;
  switch (instruction_.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
      Push(state);
      break;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
      Pop(state);
      break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD:
      if (IsRegister(0, Sp()) && operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        const int64_t bytes = operands_[1].imm.value.s;
        const bool is_add = instruction_.mnemonic == ZYDIS_MNEMONIC_ADD;
        state->depth = Deeper(state->depth, is_add ? -bytes : bytes);
      } else {
        Clobber(state);
      }
      break;
    case ZYDIS_MNEMONIC_AND:
      Align(state);
      break;
    case ZYDIS_MNEMONIC_LEA:
      Load(state);
      break;
    case ZYDIS_MNEMONIC_MOV:
      Move(state);
      break;
    case ZYDIS_MNEMONIC_LEAVE:
      Leave(state);
      break;
    case ZYDIS_MNEMONIC_XOR: {
      const bool is_zeroed = operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operands_[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operands_[0].reg.value == operands_[1].reg.value && Writes(Fp());
      const bool keeps_callers = state->fp != FrameState::kOfCaller || state->saved_fp != 0;
      Clobber(state);
      if (is_zeroed && !keeps_callers) state->fp = FrameState::kOutermost;
      break;
    }
    case ZYDIS_MNEMONIC_CALL:
      // The callee removes the return address, except if the call only reads the pc.
      if (target() == ElfAddress{address_.value + instruction_.length}) {
        state->depth = Deeper(state->depth, Word());
      }
      break;
    default:
      Clobber(state);
      break;
  }
}

void X86Instruction::Push(FrameState* state) const {
  state->depth = Deeper(state->depth, StackWidth());
  const bool is_fp = instruction_.mnemonic == ZYDIS_MNEMONIC_PUSH && IsRegister(0, Fp());
  if (is_fp && state->depth && state->fp == FrameState::kOfCaller && state->saved_fp == 0) {
    state->saved_fp = *state->depth;
  }
  const bool has_cfa = state->cfa_register != ZYDIS_REGISTER_NONE &&
                       IsRegister(0, static_cast<ZydisRegister>(state->cfa_register));
  if (has_cfa && state->depth && state->saved_cfa == 0) state->saved_cfa = *state->depth;
}

// Only the first alignment counts, before the caller's frame pointer is saved. After the save, the
// frame is found through the frame pointer.
void X86Instruction::Align(FrameState* state) const {
  const bool is_known = IsRegister(0, Sp()) && state->cfa_register != ZYDIS_REGISTER_NONE &&
                        !state->is_aligned && state->fp == FrameState::kOfCaller &&
                        state->saved_fp == 0;
  if (!is_known) return Clobber(state);
  state->is_aligned = true;
  state->depth = 0;
}

void X86Instruction::Pop(FrameState* state) const {
  const std::optional<int32_t> popped = state->depth;
  state->depth = Deeper(state->depth, -StackWidth());
  if (instruction_.mnemonic != ZYDIS_MNEMONIC_POP) return;
  if (IsRegister(0, Fp())) {
    const bool is_callers = popped && *popped == state->saved_fp;
    state->fp = is_callers ? FrameState::kOfCaller : FrameState::kOther;
  } else if (IsRegister(0, Sp())) {
    state->depth.reset();
  }
  // The slot was popped if it is now below the stack pointer.
  if (popped && *popped == state->saved_fp) state->saved_fp = 0;
}

void X86Instruction::Load(FrameState* state) const {
  const int64_t displacement = operands_[1].mem.disp.value;
  const bool from_sp = IsMemoryAt(1, Sp());
  const bool from_fp = IsMemoryAt(1, Fp()) && state->fp == FrameState::kOfFrame;
  if (IsRegister(0, Sp()) && (from_sp || from_fp)) {
    state->depth = Deeper(from_sp ? state->depth : state->fp_depth, -displacement);
  } else if (IsRegister(0, Fp()) && from_sp && state->depth) {
    const std::optional<int32_t> depth = Deeper(state->depth, -displacement);
    state->fp = depth ? FrameState::kOfFrame : FrameState::kOther;
    state->fp_depth = depth.value_or(0);
  } else {
    const bool is_cfa = from_sp && !state->is_aligned && state->depth == displacement;
    if (is_cfa && operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
      state->cfa_register = static_cast<uint16_t>(operands_[0].reg.value);
    }
    Clobber(state);
  }
}

void X86Instruction::Move(FrameState* state) const {
  const auto slot = [&](size_t i) {
    return IsMemoryAt(i, Sp()) ? Deeper(state->depth, -operands_[i].mem.disp.value) : std::nullopt;
  };
  if (IsRegister(0, Fp()) && IsRegister(1, Sp())) {
    state->fp = state->depth ? FrameState::kOfFrame : FrameState::kOther;
    state->fp_depth = state->depth.value_or(0);
  } else if (IsRegister(0, Sp()) && IsRegister(1, Fp())) {
    state->depth.reset();
    if (state->fp == FrameState::kOfFrame) state->depth = state->fp_depth;
  } else if (IsRegister(1, Fp()) && state->fp == FrameState::kOfCaller && state->saved_fp == 0 &&
             slot(0)) {
    state->saved_fp = *slot(0);
  } else if (IsRegister(0, Fp()) && state->saved_fp != 0 && slot(1) == state->saved_fp) {
    state->fp = FrameState::kOfCaller;
  } else {
    Clobber(state);
  }
}

void X86Instruction::Leave(FrameState* state) const {
  const bool is_frame = state->fp == FrameState::kOfFrame;
  const bool is_callers = is_frame && state->fp_depth == state->saved_fp;
  state->depth = is_frame ? Deeper(state->fp_depth, -Word()) : std::nullopt;
  state->fp = is_callers ? FrameState::kOfCaller : FrameState::kOther;
  if (is_callers) state->saved_fp = 0;
}

void X86Instruction::Clobber(FrameState* state) const {
  if (Writes(Sp())) state->depth.reset();
  if (Writes(Fp())) state->fp = FrameState::kOther;
}

}  // namespace

bool Decode(Mode mode, std::span<const std::byte> code, ElfAddress address,
            DecodedInstruction* instruction) {
  auto& decoded = instruction->Make<X86Instruction>();
  if (!decoded.Decode(mode, code, address)) return false;
  instruction->length = decoded.length();
  instruction->flow = decoded.flow();
  instruction->target = decoded.target();
  instruction->is_padding = decoded.IsPadding();
  instruction->returns = decoded.Returns();
  instruction->halts = decoded.Halts();
  instruction->is_prologue = decoded.IsPrologue();
  return true;
}

void Apply(const DecodedInstruction& instruction, FrameState* state) {
  instruction.Get<X86Instruction>().Apply(state);
}

}  // namespace profiler::symbolize::x86

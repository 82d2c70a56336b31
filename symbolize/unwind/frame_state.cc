#include "symbolize/unwind/frame_state.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "symbolize/unwind/aarch64_code.h"
#include "symbolize/unwind/aarch64_frame_state.h"

namespace profiler::symbolize {
namespace {

// Largest frame in bytes; larger ones are not followed.
constexpr int64_t kMostDepth = int64_t{1} << 30;

ZydisMachineMode ModeOf(Architecture architecture) {
  return architecture == Architecture::kI386 ? ZYDIS_MACHINE_MODE_LEGACY_32
                                             : ZYDIS_MACHINE_MODE_LONG_64;
}

ZydisDecoder MakeDecoder(Architecture architecture) {
  ZydisDecoder made;
  ZydisDecoderInit(
      &made, ModeOf(architecture),
      architecture == Architecture::kI386 ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
  return made;
}

const ZydisDecoder& DecoderOf(Architecture architecture) {
  static const ZydisDecoder x86_64 = MakeDecoder(Architecture::kX86_64);
  static const ZydisDecoder i386 = MakeDecoder(Architecture::kI386);
  return architecture == Architecture::kI386 ? i386 : x86_64;
}

// Returns true for registers that functions must preserve for their callers.
bool IsCallersRegister(Architecture architecture, ZydisRegister reg) {
  constexpr std::array kOfX86_64 = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                    ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
  constexpr std::array kOfI386 = {ZYDIS_REGISTER_EBX, ZYDIS_REGISTER_EBP, ZYDIS_REGISTER_ESI,
                                  ZYDIS_REGISTER_EDI};
  const auto is_among = [reg](const auto& registers) {
    return std::find(registers.begin(), registers.end(), reg) != registers.end();
  };
  return architecture == Architecture::kI386 ? is_among(kOfI386) : is_among(kOfX86_64);
}

}  // namespace

std::optional<int32_t> Deeper(std::optional<int32_t> depth, int64_t bytes) {
  if (!depth) return std::nullopt;
  if (bytes > kMostDepth || bytes < -kMostDepth) return std::nullopt;
  const int64_t deeper = *depth + bytes;
  // A negative depth is above the CFA, in the caller's frame.
  if (deeper < 0 || deeper > kMostDepth) return std::nullopt;
  return static_cast<int32_t>(deeper);
}

UnwindRule FrameState::Rule(Architecture architecture) const {
  const auto word = static_cast<int32_t>(WordSize(architecture));
  if (fp == kOutermost) return {.kind = UnwindRule::kThreadStart};
  // Limits of UnwindRule's fields.
  constexpr int32_t kMostReturnSlots = 1 << 12, kMostSlots = 1 << 13;
  if ((saved_return == 0 && !keeps_link) || saved_return % word != 0 ||
      saved_return / word >= kMostReturnSlots) {
    return {};
  }
  UnwindRule rule{.kind = UnwindRule::kFromStackPointer, .return_slot = -saved_return / word};
  if (is_aligned) {
    const int32_t above_fp = fp_depth - saved_fp;
    const bool is_known = fp == kOfFrame && saved_fp != 0 && saved_cfa != 0;
    if (!is_known || above_fp % word != 0 || std::abs(above_fp / word) >= kMostSlots) return {};
    rule.kind = UnwindRule::kRealigned;
    rule.frame_slot = above_fp / word;
    rule.cfa_offset = fp_depth - saved_cfa;
    return rule;
  }
  // Uses the frame pointer if there is one, as compilers do in call frame information.
  if (fp == kOfFrame && (!depth || fp_depth == saved_fp)) {
    rule.kind = UnwindRule::kFromFramePointer;
    rule.cfa_offset = fp_depth;
  } else if (depth && *depth >= saved_return) {
    rule.cfa_offset = *depth;
  } else {
    return {};
  }
  if (fp == kOfCaller) return rule;
  if (saved_fp % word != 0 || saved_fp / word >= kMostSlots) return {};
  rule.frame_slot = -saved_fp / word;
  return rule;
}

bool FrameInstruction::Decode(std::span<const std::byte> code, ElfAddress address) {
  address_ = address;
  if (architecture_ == Architecture::kAArch64) {
    if (code.size() < sizeof(code_)) return false;
    std::memcpy(&code_, code.data(), sizeof(code_));
    return true;
  }
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&DecoderOf(architecture_), code.data(), code.size(),
                                             &instruction_, operands_));
}

size_t FrameInstruction::length() const {
  return architecture_ == Architecture::kAArch64 ? sizeof(code_) : instruction_.length;
}

bool FrameInstruction::IsPadding() const {
  if (architecture_ == Architecture::kAArch64) return IsArmPadding(code_);
  return instruction_.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool FrameInstruction::Returns() const {
  if (architecture_ == Architecture::kAArch64) return ReturnsByLink(code_);
  return instruction_.meta.category == ZYDIS_CATEGORY_RET;
}

FrameInstruction::Flow FrameInstruction::flow() const {
  if (architecture_ == Architecture::kAArch64) return ArmFlow(code_);
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

std::optional<ElfAddress> FrameInstruction::target() const {
  if (architecture_ == Architecture::kAArch64) return ArmTarget(code_, address_);
  if (instruction_.operand_count == 0 || operands_[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
      operands_[0].imm.is_relative == 0) {
    return std::nullopt;
  }
  return ElfAddress{
      WithinWord(architecture_, address_.value + instruction_.length + operands_[0].imm.value.u)};
}

bool FrameInstruction::IsPrologue() const {
  if (architecture_ == Architecture::kAArch64) return IsArmPrologue(code_);
  switch (instruction_.mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:
      return true;
    case ZYDIS_MNEMONIC_PUSH:
      return operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             IsCallersRegister(architecture_, operands_[0].reg.value);
    case ZYDIS_MNEMONIC_SUB:
      return IsRegister(0, Sp());
    default:
      return false;
  }
}

bool FrameInstruction::IsMemoryAt(size_t i, ZydisRegister base) const {
  return operands_[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands_[i].mem.base == base &&
         operands_[i].mem.index == ZYDIS_REGISTER_NONE;
}

// Returns true if the instruction writes the register or a part of it.
bool FrameInstruction::Writes(ZydisRegister reg) const {
  for (size_t i = 0; i < instruction_.operand_count; ++i) {
    const bool is_written = (operands_[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (is_written && operands_[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetLargestEnclosing(ModeOf(architecture_), operands_[i].reg.value) == reg) {
      return true;
    }
  }
  return false;
}

FrameState FrameInstruction::After(FrameState state) const {
  if (architecture_ == Architecture::kAArch64) return AfterArm(code_, state);
  // Ignores calls before the CFA is saved: they only read the pc and keep the register.
  const bool has_cfa = state.cfa_register != ZYDIS_REGISTER_NONE;
  if (has_cfa && Writes(state.cfa_register)) state.cfa_register = ZYDIS_REGISTER_NONE;
  switch (instruction_.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
      Push(&state);
      break;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
      Pop(&state);
      break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD:
      if (IsRegister(0, Sp()) && operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        const int64_t bytes = operands_[1].imm.value.s;
        const bool is_add = instruction_.mnemonic == ZYDIS_MNEMONIC_ADD;
        state.depth = Deeper(state.depth, is_add ? -bytes : bytes);
      } else {
        Clobber(&state);
      }
      break;
    case ZYDIS_MNEMONIC_AND:
      Align(&state);
      break;
    case ZYDIS_MNEMONIC_LEA:
      Load(&state);
      break;
    case ZYDIS_MNEMONIC_MOV:
      Move(&state);
      break;
    case ZYDIS_MNEMONIC_LEAVE:
      Leave(&state);
      break;
    case ZYDIS_MNEMONIC_XOR: {
      const bool is_zeroed = operands_[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operands_[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operands_[0].reg.value == operands_[1].reg.value && Writes(Fp());
      const bool keeps_callers = state.fp != FrameState::kOfCaller || state.saved_fp != 0;
      Clobber(&state);
      if (is_zeroed && !keeps_callers) state.fp = FrameState::kOutermost;
      break;
    }
    case ZYDIS_MNEMONIC_CALL:
      // The callee removes the return address, except if the call only reads the pc.
      if (target() == ElfAddress{address_.value + instruction_.length}) {
        state.depth = Deeper(state.depth, Word());
      }
      break;
    default:
      Clobber(&state);
      break;
  }
  return state;
}

void FrameInstruction::Push(FrameState* state) const {
  state->depth = Deeper(state->depth, StackWidth());
  const bool is_fp = instruction_.mnemonic == ZYDIS_MNEMONIC_PUSH && IsRegister(0, Fp());
  if (is_fp && state->depth && state->fp == FrameState::kOfCaller && state->saved_fp == 0) {
    state->saved_fp = *state->depth;
  }
  const bool has_cfa =
      state->cfa_register != ZYDIS_REGISTER_NONE && IsRegister(0, state->cfa_register);
  if (has_cfa && state->depth && state->saved_cfa == 0) state->saved_cfa = *state->depth;
}

// Only the first alignment counts, before the caller's frame pointer is saved. After the save, the
// frame is found through the frame pointer.
void FrameInstruction::Align(FrameState* state) const {
  const bool is_known = IsRegister(0, Sp()) && state->cfa_register != ZYDIS_REGISTER_NONE &&
                        !state->is_aligned && state->fp == FrameState::kOfCaller &&
                        state->saved_fp == 0;
  if (!is_known) return Clobber(state);
  state->is_aligned = true;
  state->depth = 0;
}

void FrameInstruction::Pop(FrameState* state) const {
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

void FrameInstruction::Load(FrameState* state) const {
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
      state->cfa_register = operands_[0].reg.value;
    }
    Clobber(state);
  }
}

void FrameInstruction::Move(FrameState* state) const {
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

void FrameInstruction::Leave(FrameState* state) const {
  const bool is_frame = state->fp == FrameState::kOfFrame;
  const bool is_callers = is_frame && state->fp_depth == state->saved_fp;
  state->depth = is_frame ? Deeper(state->fp_depth, -Word()) : std::nullopt;
  state->fp = is_callers ? FrameState::kOfCaller : FrameState::kOther;
  if (is_callers) state->saved_fp = 0;
}

void FrameInstruction::Clobber(FrameState* state) const {
  if (Writes(Sp())) state->depth.reset();
  if (Writes(Fp())) state->fp = FrameState::kOther;
}

}  // namespace profiler::symbolize

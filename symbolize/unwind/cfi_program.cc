#include "symbolize/unwind/cfi_program.h"

#include <dwarf.h>

#include <limits>

namespace profiler::symbolize {
namespace {

// Largest depth of nested DW_CFA_remember_state. Compilers nest them two or three deep.
constexpr size_t kMaxRemembered = 64;

// Three instructions are recognized by their high two bits. They have an operand in the low six
// bits.
constexpr uint8_t kHighBits = 0xc0;
constexpr uint8_t kLowBits = 0x3f;

// These constants are missing in elfutils' dwarf.h of 2022. If return addresses are signed, 0x2d
// means that they are from here on; elsewhere 0x2d is DW_CFA_GNU_window_save.
constexpr uint8_t kNegateStateWithPc = 0x2c;
constexpr uint8_t kNegateState = 0x2d;

}  // namespace

CfiProgram::Outcome CfiProgram::Run(Architecture architecture, const FrameSection& section,
                                    const FunctionEntry& function, uint64_t most,
                                    RowVisitor visit) {
  architecture_ = architecture;
  section_ = &section;
  function_ = &function;
  rules_ = FrameRules();
  rules_.return_address = function.common.return_address;
  rules_.signal_frame = function.common.signal_frame;
  rules_.expressions = section.bytes();
  remembered_.clear();
  most_ = most;
  outcome_ = {};
  location_ = function.start;
  last_expression_ = 0;
  initial_ = rules_;
  if (RunCommon(function.common.instructions)) {
    initial_ = rules_;
    RunFunction(function.instructions, function.start + function.size, visit);
  }
  return outcome_;
}

void CfiProgram::RunFunction(std::span<const std::byte> instructions, uint64_t end,
                             RowVisitor visit) {
  DwarfReader code(instructions, section_->address_size());
  code_address_ =
      section_->address() + static_cast<uint64_t>(instructions.data() - section_->bytes().data());
  while (code.remaining() != 0) {
    if (!MayRunOneMore()) return;
    switch (Execute(code)) {
      case Step::kNext:
        break;
      case Step::kMalformed:
        return;
      case Step::kAdvance:
        if (next_location_ < location_) return;
        if (next_location_ >= end) code.Skip(code.remaining());
        if (next_location_ < end && next_location_ != location_) {
          if (!visit(location_, next_location_, rules_)) return;
          location_ = next_location_;
        }
        break;
    }
  }
  if (location_ < end) visit(location_, end, rules_);
}

bool CfiProgram::RunCommon(std::span<const std::byte> instructions) {
  DwarfReader code(instructions, section_->address_size());
  while (code.remaining() != 0) {
    if (!MayRunOneMore() || Execute(code) != Step::kNext) return false;
  }
  return true;
}

bool CfiProgram::MayRunOneMore() {
  outcome_.is_cut = outcome_.instructions == most_;
  outcome_.instructions += outcome_.is_cut ? 0 : 1;
  return !outcome_.is_cut;
}

int64_t CfiProgram::Factored(uint64_t value) const {
  return static_cast<int64_t>(value * static_cast<uint64_t>(function_->common.data_alignment));
}

CfiProgram::Step CfiProgram::AdvanceBy(uint64_t distance) {
  next_location_ = location_ + distance * function_->common.code_alignment;
  return Step::kAdvance;
}

CfiProgram::Step CfiProgram::SetRegister(uint64_t number, RegisterRule rule) {
  // Ignores other registers, such as vector registers, and a number of pc that CFI does not use.
  const RegisterNumbers& numbers = NumbersOf(architecture_);
  const bool is_pc_only = number == numbers.pc && number != numbers.return_address;
  if (number < kRegisters && !is_pc_only) rules_.registers[number] = rule;
  return Step::kNext;
}

CfiProgram::Step CfiProgram::SetCfaRegister(uint64_t number, int64_t offset) {
  if (number >= kRegisters) return Step::kMalformed;
  rules_.cfa = {
      .kind = CfaRule::kRegister, .number = static_cast<uint8_t>(number), .offset = offset};
  return Step::kNext;
}

CfiProgram::Step CfiProgram::RestoreInitial(uint64_t number) {
  return SetRegister(number, number < kRegisters ? initial_.registers[number] : RegisterRule());
}

CfiProgram::Step CfiProgram::Expression(DwarfReader& code, int64_t* offset, uint32_t* size) {
  const uint64_t length = code.Uleb();
  const std::span<const std::byte> bytes = code.ReadBytes(length);
  if (!code.ok() || length > std::numeric_limits<uint32_t>::max()) return Step::kMalformed;
  *offset = bytes.data() - section_->bytes().data();
  *size = static_cast<uint32_t>(length);
  return Step::kNext;
}

CfiProgram::Step CfiProgram::Execute(DwarfReader& code) {
  const auto op = code.Read<uint8_t>();
  const uint64_t operand = op & kLowBits;
  Step step = Step::kNext;
  switch (op & kHighBits) {
    case DW_CFA_advance_loc:
      return AdvanceBy(operand);
    case DW_CFA_offset:
      step = SetRegister(operand, {.kind = RegisterRule::kOffset, .offset = Factored(code.Uleb())});
      break;
    case DW_CFA_restore:
      step = RestoreInitial(operand);
      break;
    default:
      step = ExecuteExtended(op, code);
  }
  return code.ok() ? step : Step::kMalformed;
}

CfiProgram::Step CfiProgram::ExecuteExtended(uint8_t op, DwarfReader& code) {
  switch (op) {
    case DW_CFA_nop:
      return Step::kNext;
    case DW_CFA_set_loc:
      next_location_ = code.Pointer(function_->common.pointer_encoding, code_address_);
      return Step::kAdvance;
    case DW_CFA_advance_loc1:
      return AdvanceBy(code.Read<uint8_t>());
    case DW_CFA_advance_loc2:
      return AdvanceBy(code.Read<uint16_t>());
    case DW_CFA_advance_loc4:
      return AdvanceBy(code.Read<uint32_t>());
    case DW_CFA_MIPS_advance_loc8:
      return AdvanceBy(code.Read<uint64_t>());
    case DW_CFA_remember_state:
      if (remembered_.size() == kMaxRemembered) return Step::kMalformed;
      remembered_.push_back(rules_);
      return Step::kNext;
    case DW_CFA_restore_state:
      if (remembered_.empty()) return Step::kMalformed;
      rules_ = remembered_.back();
      remembered_.pop_back();
      return Step::kNext;
    case DW_CFA_GNU_args_size:  // size of pushed arguments; the CFA includes it
      code.Uleb();
      return Step::kNext;
    case kNegateState:
    case kNegateStateWithPc:
      // Signatures are removed from every return address, with or without this instruction.
      return architecture_->signs_return_addresses ? Step::kNext : Step::kMalformed;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_expression:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_offset_sf:
      return SetCfa(op, code);
    default:
      return SetRule(op, code);
  }
}

CfiProgram::Step CfiProgram::SetCfa(uint8_t op, DwarfReader& code) {
  switch (op) {
    case DW_CFA_def_cfa: {
      const uint64_t number = code.Uleb();
      return SetCfaRegister(number, static_cast<int64_t>(code.Uleb()));
    }
    case DW_CFA_def_cfa_sf: {
      const uint64_t number = code.Uleb();
      return SetCfaRegister(number, Factored(static_cast<uint64_t>(code.Sleb())));
    }
    case DW_CFA_def_cfa_expression:
      return SetCfaExpression(code);
    default:
      break;
  }
  // Other instructions change only the register or only the offset of the CFA.
  if (rules_.cfa.kind != CfaRule::kRegister) return Step::kMalformed;
  switch (op) {
    case DW_CFA_def_cfa_register:
      return SetCfaRegister(code.Uleb(), rules_.cfa.offset);
    case DW_CFA_def_cfa_offset:
      rules_.cfa.offset = static_cast<int64_t>(code.Uleb());
      return Step::kNext;
    case DW_CFA_def_cfa_offset_sf:
      rules_.cfa.offset = Factored(static_cast<uint64_t>(code.Sleb()));
      return Step::kNext;
    default:
      return Step::kMalformed;
  }
}

// Sets the CFA. If the new rule shows that the stack pointer has moved, marks the registers whose
// slots were described relative to the stack pointer before. Their slots have not moved
// (FrameRules::told_at).
CfiProgram::Step CfiProgram::SetCfaExpression(DwarfReader& code) {
  const CfaRule before = rules_.cfa;
  rules_.cfa = {.kind = CfaRule::kExpression};
  if (Expression(code, &rules_.cfa.offset, &rules_.cfa.expression_size) == Step::kMalformed) {
    return Step::kMalformed;
  }
  const bool moves = architecture_->slots_outlast_stack_pointer && last_expression_ < location_ &&
                     rules_.told_at.kind == CfaRule::kNone && before.kind == CfaRule::kExpression &&
                     IsFromStackPointer(before.offset, before.expression_size) &&
                     IsFromStackPointer(rules_.cfa.offset, rules_.cfa.expression_size);
  if (!moves) return Step::kNext;
  for (RegisterRule& rule : rules_.registers) {
    if (rule.kind != RegisterRule::kExpression) continue;
    if (!IsFromStackPointer(rule.offset, rule.expression_size)) continue;
    rule.stack_moved = true;
    rules_.told_at = before;
  }
  return Step::kNext;
}

bool CfiProgram::IsFromStackPointer(int64_t offset, uint32_t size) const {
  const auto stack_pointer = static_cast<std::byte>(DW_OP_breg0 + NumbersOf(architecture_).sp);
  return size != 0 && rules_.Expression(offset, size)[0] == stack_pointer;
}

CfiProgram::Step CfiProgram::SetRule(uint8_t op, DwarfReader& code) {
  const uint64_t number = code.Uleb();  // the first operand of all these instructions
  RegisterRule rule;
  switch (op) {
    case DW_CFA_restore_extended:
      return RestoreInitial(number);
    case DW_CFA_undefined:
      rule.kind = RegisterRule::kUndefined;
      break;
    case DW_CFA_same_value:
      rule.kind = RegisterRule::kSameValue;
      break;
    case DW_CFA_offset_extended:
    case DW_CFA_val_offset:
      rule.kind = op == DW_CFA_val_offset ? RegisterRule::kValueOffset : RegisterRule::kOffset;
      rule.offset = Factored(code.Uleb());
      break;
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
      rule.kind = op == DW_CFA_val_offset_sf ? RegisterRule::kValueOffset : RegisterRule::kOffset;
      rule.offset = Factored(static_cast<uint64_t>(code.Sleb()));
      break;
    case DW_CFA_GNU_negative_offset_extended:
      rule.kind = RegisterRule::kOffset;
      rule.offset = Factored(0 - code.Uleb());
      break;
    case DW_CFA_register:
      rule.kind = RegisterRule::kRegister;
      rule.offset = static_cast<int64_t>(code.Uleb());
      break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      rule.kind =
          op == DW_CFA_expression ? RegisterRule::kExpression : RegisterRule::kValueExpression;
      if (Expression(code, &rule.offset, &rule.expression_size) == Step::kMalformed) {
        return Step::kMalformed;
      }
      last_expression_ = location_;
      break;
    default:
      return Step::kMalformed;
  }
  return SetRegister(number, rule);
}

}  // namespace profiler::symbolize

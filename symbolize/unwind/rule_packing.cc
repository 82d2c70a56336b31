#include "symbolize/unwind/rule_packing.h"

#include <dwarf.h>

#include <array>
#include <limits>
#include <optional>

#include "symbolize/unwind/dwarf_reader.h"

namespace profiler::symbolize {
namespace {

constexpr int64_t kMostSlots = 1 << 12;  // limit of signed numbers with 13 bits

int64_t WordOf(Architecture architecture) { return static_cast<int64_t>(WordSize(architecture)); }

// Returns the slot of a register that is saved `offset` bytes above the CFA.
std::optional<int32_t> SlotOf(int64_t word, int64_t offset) {
  const int64_t slot = offset / word;
  if (offset % word != 0 || slot == 0 || slot < -kMostSlots || slot >= kMostSlots) {
    return std::nullopt;
  }
  return static_cast<int32_t>(slot);
}

bool IsUnchanged(const RegisterRule& rule) {
  return rule.kind == RegisterRule::kUnspecified || rule.kind == RegisterRule::kSameValue;
}

// Returns the slot; 0 if the register still has its value; empty if a slot cannot express the rule.
std::optional<int32_t> SavedSlot(int64_t word, const RegisterRule& rule) {
  if (IsUnchanged(rule)) return 0;
  if (rule.kind != RegisterRule::kOffset) return std::nullopt;
  return SlotOf(word, rule.offset);
}

bool FitsInt32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

// Reads an expression of the form "register `number` + offset" and returns the offset; empty for
// other expressions.
std::optional<int64_t> ReadBaseRegister(DwarfReader& code, unsigned number) {
  if (code.Read<uint8_t>() != DW_OP_breg0 + number) return std::nullopt;
  const int64_t offset = code.Sleb();
  if (!code.ok() || !FitsInt32(offset)) return std::nullopt;
  return offset;
}

// Recognizes a linkage table. Its CFA is breg7 8; breg16 0; lit15; and; lit N; ge; lit3; shl; plus.
// This means that each entry has 16 bytes, and that 8 bytes have been pushed from its offset N on.
// On i386 the CFA is breg4 4; breg8 0; …; lit2; shl; plus.
std::optional<UnwindRule> PackLinkageTable(Architecture architecture, const FrameRules& rules) {
  const RegisterNumbers numbers = NumbersOf(architecture);
  const int64_t word = WordOf(architecture);
  DwarfReader code(rules.Expression(rules.cfa.offset, rules.cfa.expression_size));
  const std::optional<int64_t> offset = ReadBaseRegister(code, numbers.sp);
  if (!offset || ReadBaseRegister(code, numbers.pc) != 0) return std::nullopt;
  if (code.Read<uint8_t>() != DW_OP_lit15 || code.Read<uint8_t>() != DW_OP_and) return std::nullopt;
  const int threshold = code.Read<uint8_t>() - DW_OP_lit0;
  if (threshold < 0 || threshold > 15) return std::nullopt;
  const uint8_t shift = word == 4 ? DW_OP_lit2 : DW_OP_lit3;
  for (const uint8_t op : std::to_array<uint8_t>({DW_OP_ge, shift, DW_OP_shl, DW_OP_plus})) {
    if (code.Read<uint8_t>() != op) return std::nullopt;
  }
  if (!code.ok() || code.remaining() != 0) return std::nullopt;
  const RegisterRule& return_address = rules.registers[numbers.pc];
  if (return_address.kind != RegisterRule::kOffset || return_address.offset != -word ||
      !IsUnchanged(rules.registers[numbers.fp])) {
    return std::nullopt;
  }
  return UnwindRule{.kind = UnwindRule::kLinkageTable,
                    .return_slot = threshold,
                    .cfa_offset = static_cast<int32_t>(*offset)};
}

// Recognizes a realigned stack. The rule of the CFA is: breg6 offset; deref. The rule of the frame
// pointer is: breg6 offset.
std::optional<UnwindRule> PackRealigned(Architecture architecture, const FrameRules& rules) {
  const RegisterNumbers numbers = NumbersOf(architecture);
  const int64_t word = WordOf(architecture);
  DwarfReader cfa(rules.Expression(rules.cfa.offset, rules.cfa.expression_size));
  const std::optional<int64_t> cfa_offset = ReadBaseRegister(cfa, numbers.fp);
  if (!cfa_offset || cfa.Read<uint8_t>() != DW_OP_deref || !cfa.ok() || cfa.remaining() != 0) {
    return std::nullopt;
  }
  const RegisterRule& frame = rules.registers[numbers.fp];
  if (frame.kind != RegisterRule::kExpression) return std::nullopt;
  DwarfReader saved(rules.Expression(frame.offset, frame.expression_size));
  const std::optional<int64_t> offset = ReadBaseRegister(saved, numbers.fp);
  if (!offset || saved.remaining() != 0 || *offset % word != 0 || *offset / word < -kMostSlots ||
      *offset / word >= kMostSlots) {
    return std::nullopt;
  }
  const RegisterRule& return_address = rules.registers[rules.return_address];
  const std::optional<int32_t> slot = SavedSlot(word, return_address);
  if (!slot || *slot == 0) return std::nullopt;
  return UnwindRule{.kind = UnwindRule::kRealigned,
                    .return_slot = *slot,
                    .frame_slot = static_cast<int32_t>(*offset / word),
                    .cfa_offset = static_cast<int32_t>(*cfa_offset)};
}

std::optional<UnwindRule> PackCfaRegister(Architecture architecture, const FrameRules& rules) {
  const RegisterNumbers numbers = NumbersOf(architecture);
  const int64_t word = WordOf(architecture);
  const std::optional<int32_t> return_slot = SavedSlot(word, rules.registers[rules.return_address]);
  const std::optional<int32_t> frame_slot = SavedSlot(word, rules.registers[numbers.fp]);
  if (!return_slot || !frame_slot || !FitsInt32(rules.cfa.offset)) return std::nullopt;
  UnwindRule rule{.return_slot = *return_slot,
                  .frame_slot = *frame_slot,
                  .cfa_offset = static_cast<int32_t>(rules.cfa.offset)};
  if (rules.cfa.number == numbers.sp) {
    rule.kind = UnwindRule::kFromStackPointer;
  } else if (rules.cfa.number == numbers.fp) {
    rule.kind = UnwindRule::kFromFramePointer;
  } else {
    return std::nullopt;
  }
  return rule;
}

}  // namespace

UnwindRule PackRule(Architecture architecture, const FrameRules& rules) {
  UnwindRule full{.kind = UnwindRule::kFull, .signal_frame = rules.signal_frame};
  if (rules.cfa.kind == CfaRule::kNone) return {};
  const RegisterNumbers numbers = NumbersOf(architecture);
  if (rules.return_address >= kRegisters) return full;
  const RegisterRule& return_address = rules.registers[rules.return_address];
  // Without a link register, a missing rule means that there is no return address.
  const bool is_lost = !HasLinkRegister(architecture) && IsUnchanged(return_address);
  if (is_lost || return_address.kind == RegisterRule::kUndefined) {
    return {.kind = UnwindRule::kThreadStart};
  }
  if (rules.return_address != numbers.return_address ||
      rules.registers[numbers.sp].kind != RegisterRule::kUnspecified) {
    return full;
  }
  std::optional<UnwindRule> rule;
  if (rules.cfa.kind == CfaRule::kRegister) {
    rule = PackCfaRegister(architecture, rules);
  } else {
    if (!HasLinkRegister(architecture)) rule = PackLinkageTable(architecture, rules);
    if (!rule) rule = PackRealigned(architecture, rules);
  }
  if (!rule) return full;
  rule->signal_frame = rules.signal_frame;
  return *rule;
}

}  // namespace profiler::symbolize

#include "symbolize/unwind/full_step.h"

#include <algorithm>
#include <array>
#include <optional>

namespace profiler::symbolize {
namespace {

Stepped FromEvaluation(Evaluation evaluation) {
  switch (evaluation) {
    case Evaluation::kDone:
      return Stepped::kCaller;
    case Evaluation::kUnknownRegister:
      return Stepped::kUnknownRegister;
    case Evaluation::kUnreadable:
      return Stepped::kUnreadable;
    case Evaluation::kMalformed:
      return Stepped::kMalformed;
    case Evaluation::kTooLong:
      return Stepped::kTooLong;
  }
  return Stepped::kMalformed;
}

Stepped FindCfa(const FrameRules& rules, const CfaRule& rule, const RegisterSet& registers,
                MemoryReader& memory, uint32_t* expression_steps, uint64_t* cfa) {
  switch (rule.kind) {
    case CfaRule::kNone:
      return Stepped::kMalformed;
    case CfaRule::kRegister:
      if (!registers.Knows(rule.number)) return Stepped::kUnknownRegister;
      *cfa = WithinWord(registers.architecture(),
                        registers.Get(rule.number) + static_cast<uint64_t>(rule.offset));
      return Stepped::kCaller;
    case CfaRule::kExpression:
      return FromEvaluation(Evaluate(rules.Expression(rule.offset, rule.expression_size), registers,
                                     memory, std::nullopt, expression_steps, cfa));
  }
  return Stepped::kMalformed;
}

class Frame {
 public:
  Frame(const FrameRules& rules, bool is_interrupted, const RegisterSet& registers, uint64_t cfa,
        MemoryReader& memory, uint32_t* expression_steps)
      : rules_(rules),
        may_be_epilogue_(is_interrupted && !rules.signal_frame),
        registers_(registers),
        cfa_(cfa),
        memory_(memory),
        expression_steps_(expression_steps) {}

  // Computes the caller's value of register `number`. Returns kCaller on success.
  Stepped Recover(unsigned number, uint64_t* value) const {
    const RegisterRule& rule = rules_.registers[number];
    const auto offset = static_cast<uint64_t>(rule.offset);
    switch (rule.kind) {
      case RegisterRule::kUndefined:
        return Stepped::kUnknownRegister;
      case RegisterRule::kUnspecified:
      case RegisterRule::kSameValue:
        return Copy(number, value);
      case RegisterRule::kOffset:
        return Load(number, cfa_ + offset, value);
      case RegisterRule::kValueOffset:
        *value = WithinWord(registers_.architecture(), cfa_ + offset);
        return Stepped::kCaller;
      case RegisterRule::kRegister:
        return Copy(offset, value);
      case RegisterRule::kExpression:
      case RegisterRule::kValueExpression: {
        uint64_t result = 0;
        const Stepped stepped =
            FromEvaluation(Evaluate(rules_.Expression(rule.offset, rule.expression_size),
                                    registers_, memory_, cfa_, expression_steps_, &result));
        if (stepped != Stepped::kCaller) return stepped;
        if (rule.kind == RegisterRule::kValueExpression) {
          *value = result;
          return Stepped::kCaller;
        }
        uint64_t told_at = cfa_;
        if (rule.stack_moved) {
          const Stepped found =
              FindCfa(rules_, rules_.told_at, registers_, memory_, expression_steps_, &told_at);
          if (found != Stepped::kCaller) return found;
        }
        return Load(number, result + (cfa_ - told_at), value);
      }
    }
    return Stepped::kMalformed;
  }

 private:
  Stepped Copy(uint64_t number, uint64_t* value) const {
    if (number >= kRegisters || !registers_.Knows(static_cast<unsigned>(number))) {
      return Stepped::kUnknownRegister;
    }
    *value = registers_.Get(static_cast<unsigned>(number));
    return Stepped::kCaller;
  }

  Stepped Load(unsigned number, uint64_t address, uint64_t* value) const {
    const bool is_in_frame = address >= registers_.sp() && address < cfa_;
    if (may_be_epilogue_ && !is_in_frame && number != rules_.return_address) {
      return Copy(number, value);
    }
    const bool is_read = memory_.ReadWord(WithinWord(registers_.architecture(), address), value,
                                          WordSize(registers_.architecture()));
    return is_read ? Stepped::kCaller : Stepped::kUnreadable;
  }

  const FrameRules& rules_;
  const bool may_be_epilogue_;
  const RegisterSet& registers_;
  const uint64_t cfa_;
  MemoryReader& memory_;
  uint32_t* const expression_steps_;
};

bool IsRestored(const FrameRules& rules, Architecture architecture, unsigned number) {
  return rules.registers[number].kind != RegisterRule::kUnspecified || rules.signal_frame ||
         IsCalleeSaved(architecture, number);
}

// The position of the saved registers on the stack. The first register is `offset` bytes above the
// stack pointer. Each register takes one word, in the order `order`.
struct SignalFrame {
  uint64_t offset;
  std::span<const uint8_t> order;  // DWARF numbers
};

constexpr std::array<uint8_t, 17> kX86Order = {8, 9, 10, 11, 12, 13, 14, 15, 5,
                                               4, 6, 3,  1,  0,  2,  7,  16};
constexpr uint64_t kX86Offset = 40;  // size of uc_flags, uc_link and uc_stack

constexpr std::array<uint8_t, 33> kArmOrder = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                               22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
// Sizes in bytes: siginfo; then uc_flags, uc_link, uc_stack, uc_sigmask with its padding, and the
// alignment of uc_mcontext; then fault_address.
constexpr uint64_t kArmOffset = 128 + 176 + 8;

// kRegisters stands for the trap number and the error code.
constexpr std::array<uint8_t, 11> kI386Order = {7, 6, 5, 4, 3, 2, 1, 0, kRegisters, kRegisters, 8};
// Sizes in bytes. Without siginfo: number, segment registers. With siginfo: number and two
// pointers; siginfo; uc_flags, uc_link and uc_stack; segment registers.
constexpr uint64_t kI386Offset = 4 + 16, kI386OffsetWithInfo = 12 + 128 + 20 + 16;

std::optional<SignalFrame> RecognizeSignalReturn(MemoryReader& memory,
                                                 const RegisterSet& registers) {
  using Code = std::array<uint8_t, 9>;
  constexpr Code kMovRax = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
  constexpr Code kMovEax = {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
  constexpr Code kArm = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
  constexpr Code kI386 = {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80};
  constexpr Code kI386WithInfo = {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80};
  const auto stands_here = [&](const Code& expected, size_t size, uint64_t behind = 0) {
    Code code{};
    return memory.ReadBytes(registers.pc() - behind,
                            std::as_writable_bytes(std::span(code)).first(size)) &&
           code == expected;
  };
  if (registers.architecture() == Architecture::kAArch64) {
    // The pc may be at the first or at the second instruction. While the kernel returns from the
    // signal, the pc is after both instructions.
    if (!stands_here(kArm, 8) && !stands_here(kArm, 8, 4) && !stands_here(kArm, 8, 8)) {
      return std::nullopt;
    }
    return SignalFrame{kArmOffset, kArmOrder};
  }
  if (registers.architecture() == Architecture::kI386) {
    if (stands_here(kI386, 8)) return SignalFrame{kI386Offset, kI386Order};
    if (stands_here(kI386WithInfo, 7)) return SignalFrame{kI386OffsetWithInfo, kI386Order};
    return std::nullopt;
  }
  if (!stands_here(kMovRax, 9) && !stands_here(kMovEax, 7)) return std::nullopt;
  return SignalFrame{kX86Offset, kX86Order};
}

}  // namespace

Stepped StepByRules(const FrameRules& rules, bool is_interrupted, MemoryReader& memory,
                    uint32_t* expression_steps, RegisterSet* registers) {
  const Architecture architecture = registers->architecture();
  const RegisterNumbers numbers = NumbersOf(architecture);
  if (rules.return_address >= kRegisters) return Stepped::kMalformed;
  const RegisterRule& return_rule = rules.registers[rules.return_address];
  if (return_rule.kind == RegisterRule::kUndefined) return Stepped::kThreadStart;

  uint64_t cfa = 0;
  const Stepped found = FindCfa(rules, rules.cfa, *registers, memory, expression_steps, &cfa);
  if (found != Stepped::kCaller) return found;
  const Frame frame(rules, is_interrupted, *registers, cfa, memory, expression_steps);
  uint64_t return_address = 0;
  const Stepped returned = frame.Recover(rules.return_address, &return_address);
  if (returned != Stepped::kCaller) return returned;

  RegisterSet caller(architecture);
  caller.SetVectorGranule(registers->vector_granule());
  for (unsigned i = 0; i < kRegisters; ++i) {
    uint64_t value = 0;
    if (i != numbers.pc && i != rules.return_address && IsRestored(rules, architecture, i) &&
        frame.Recover(i, &value) == Stepped::kCaller) {
      caller.Set(i, value);
    }
  }
  // If the stack pointer has no rule, it is the CFA. The link register has the caller's value only
  // after a signal.
  if (rules.registers[numbers.sp].kind == RegisterRule::kUnspecified) caller.Set(numbers.sp, cfa);
  if (!caller.Knows(numbers.sp)) return Stepped::kUnreadable;
  caller.Set(numbers.pc, return_address);
  *registers = caller;
  return Stepped::kCaller;
}

Stepped StepOverSignalReturn(MemoryReader& memory, RegisterSet* registers) {
  const std::optional<SignalFrame> frame = RecognizeSignalReturn(memory, *registers);
  if (!frame) return Stepped::kMalformed;
  RegisterSet caller(registers->architecture());
  caller.SetVectorGranule(registers->vector_granule());
  const uint64_t word = WordSize(registers->architecture());
  uint64_t address = registers->sp() + frame->offset;
  for (const uint8_t number : frame->order) {
    uint64_t value = 0;
    if (!memory.ReadWord(address, &value, word)) return Stepped::kUnreadable;
    caller.Set(number, value);
    address += word;
  }
  *registers = caller;
  return Stepped::kCaller;
}

}  // namespace profiler::symbolize

#include "symbolize/unwind/full_step.h"

#include <array>
#include <cstring>
#include <optional>
#include <span>

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

// Returns the code at the last frame's pc that returns from a signal; null: other code.
const SignalReturn* RecognizeSignalReturn(MemoryReader& memory, const RegisterSet& registers) {
  std::array<std::byte, 16> room{};
  for (const SignalReturn& known : registers.architecture()->signal_returns) {
    const std::span<std::byte> code = std::span(room).first(known.code.size());
    for (const uint8_t distance : known.distances) {
      const bool stands_here = memory.ReadBytes(registers.pc() - distance, code) &&
                               std::memcmp(code.data(), known.code.data(), code.size()) == 0;
      if (stands_here) return &known;
    }
  }
  return nullptr;
}

}  // namespace

Stepped StepByRules(const FrameRules& rules, bool is_interrupted, MemoryReader& memory,
                    uint32_t* expression_steps, RegisterSet* registers) {
  const Architecture architecture = registers->architecture();
  const RegisterNumbers& numbers = NumbersOf(architecture);
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
  const SignalReturn* const frame = RecognizeSignalReturn(memory, *registers);
  if (frame == nullptr) return Stepped::kMalformed;
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

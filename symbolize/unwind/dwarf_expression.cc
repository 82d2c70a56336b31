#include "symbolize/unwind/dwarf_expression.h"

#include <dwarf.h>

#include <array>

#include "symbolize/unwind/dwarf_reader.h"

namespace profiler::symbolize {
namespace {

constexpr int kMaxSteps = 1000;
constexpr size_t kMaxDepth = 64;

class Machine {
 public:
  Machine(std::span<const std::byte> expression, const RegisterSet& registers, MemoryReader& memory)
      : expression_(expression),
        architecture_(registers.architecture()),
        code_(expression, WordSize(architecture_)),
        registers_(registers),
        memory_(memory) {}

  void Push(uint64_t value) {
    if (depth_ == kMaxDepth) return Fail(Evaluation::kMalformed);
    stack_[depth_++] = WithinWord(architecture_, value);
  }

  Evaluation Run(uint32_t* steps_left, uint64_t* result) {
    for (int step = 0; code_.remaining() != 0; ++step, --*steps_left) {
      if (step == kMaxSteps) return Evaluation::kMalformed;
      if (*steps_left == 0) return Evaluation::kTooLong;
      Execute(code_.Read<uint8_t>());
      if (!code_.ok()) Fail(Evaluation::kMalformed);
      if (state_ != Evaluation::kDone) return state_;
    }
    if (depth_ == 0) return Evaluation::kMalformed;
    *result = stack_[depth_ - 1];
    return Evaluation::kDone;
  }

 private:
  void Fail(Evaluation why) {
    if (state_ == Evaluation::kDone) state_ = why;
  }

  uint64_t Pop() {
    if (depth_ == 0) {
      Fail(Evaluation::kMalformed);
      return 0;
    }
    return stack_[--depth_];
  }

  // Returns the value that is `index` values below the top of the stack.
  uint64_t Peek(size_t index) {
    if (index >= depth_) {
      Fail(Evaluation::kMalformed);
      return 0;
    }
    return stack_[depth_ - 1 - index];
  }

  void PushRegister(uint64_t number, int64_t offset) {
    if (number == registers_.architecture()->vector_granule && registers_.vector_granule() != 0) {
      return Push(registers_.vector_granule() + static_cast<uint64_t>(offset));
    }
    if (number >= kRegisters || !registers_.Knows(static_cast<unsigned>(number))) {
      return Fail(Evaluation::kUnknownRegister);
    }
    Push(registers_.Get(static_cast<unsigned>(number)) + static_cast<uint64_t>(offset));
  }

  // Memory is little-endian, like this machine.
  void PushMemory(uint64_t address, size_t size) {
    if (size == 0 || size > sizeof(uint64_t)) return Fail(Evaluation::kMalformed);
    uint64_t value = 0;
    if (!memory_.ReadBytes(address, std::as_writable_bytes(std::span(&value, 1)).first(size))) {
      return Fail(Evaluation::kUnreadable);
    }
    Push(value);
  }

  void Jump(int16_t distance) {
    const int64_t target = static_cast<int64_t>(code_.offset()) + distance;
    if (target < 0 || target > static_cast<int64_t>(expression_.size())) {
      return Fail(Evaluation::kMalformed);
    }
    code_ = DwarfReader(expression_, WordSize(architecture_));
    code_.Skip(static_cast<size_t>(target));
  }

  void Execute(uint8_t op) {
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) return Push(op - DW_OP_lit0);
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
      return PushRegister(op - DW_OP_breg0, code_.Sleb());
    }
    if (!Constant(op) && !StackOperator(op) && !UnaryOperator(op) && !Control(op)) {
      BinaryOperator(op);
    }
  }

  template <class T>
  uint64_t Extended() {
    return static_cast<uint64_t>(static_cast<int64_t>(code_.Read<T>()));
  }

  bool Constant(uint8_t op) {
    switch (op) {
      case DW_OP_addr:
        return Push(code_.Address()), true;
      case DW_OP_const8u:
      case DW_OP_const8s:
        return Push(code_.Read<uint64_t>()), true;
      case DW_OP_const1u:
        return Push(code_.Read<uint8_t>()), true;
      case DW_OP_const1s:
        return Push(Extended<int8_t>()), true;
      case DW_OP_const2u:
        return Push(code_.Read<uint16_t>()), true;
      case DW_OP_const2s:
        return Push(Extended<int16_t>()), true;
      case DW_OP_const4u:
        return Push(code_.Read<uint32_t>()), true;
      case DW_OP_const4s:
        return Push(Extended<int32_t>()), true;
      case DW_OP_constu:
        return Push(code_.Uleb()), true;
      case DW_OP_consts:
        return Push(static_cast<uint64_t>(code_.Sleb())), true;
      case DW_OP_bregx: {
        const uint64_t number = code_.Uleb();
        return PushRegister(number, code_.Sleb()), true;
      }
      default:
        return false;
    }
  }

  bool StackOperator(uint8_t op) {
    switch (op) {
      case DW_OP_dup:
        return Push(Peek(0)), true;
      case DW_OP_drop:
        return static_cast<void>(Pop()), true;
      case DW_OP_over:
        return Push(Peek(1)), true;
      case DW_OP_pick:
        return Push(Peek(code_.Read<uint8_t>())), true;
      case DW_OP_swap:
      case DW_OP_rot: {
        // DW_OP_swap, DW_OP_rot: moves the top below the next value, or below the next two.
        const uint64_t top = Pop();
        const uint64_t second = Pop();
        const uint64_t third = op == DW_OP_rot ? Pop() : 0;
        Push(top);
        if (op == DW_OP_rot) Push(third);
        return Push(second), true;
      }
      default:
        return false;
    }
  }

  bool UnaryOperator(uint8_t op) {
    switch (op) {
      case DW_OP_deref:
        return PushMemory(Pop(), WordSize(architecture_)), true;
      case DW_OP_deref_size: {
        const auto size = code_.Read<uint8_t>();
        return PushMemory(Pop(), size), true;
      }
      case DW_OP_abs: {
        const int64_t value = Signed(Pop());
        return Push(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
               true;
      }
      case DW_OP_neg:
        return Push(0 - Pop()), true;
      case DW_OP_not:
        return Push(~Pop()), true;
      case DW_OP_plus_uconst: {
        const uint64_t constant = code_.Uleb();
        return Push(Pop() + constant), true;
      }
      default:
        return false;
    }
  }

  bool Control(uint8_t op) {
    switch (op) {
      case DW_OP_nop:
        return true;
      case DW_OP_skip:
        return Jump(code_.Read<int16_t>()), true;
      case DW_OP_bra: {
        const auto distance = code_.Read<int16_t>();
        if (Pop() != 0) Jump(distance);
        return true;
      }
      default:
        return false;
    }
  }

  int64_t Signed(uint64_t value) const {
    return WordSize(architecture_) == 4 ? static_cast<int32_t>(static_cast<uint32_t>(value))
                                        : static_cast<int64_t>(value);
  }

  uint64_t ShiftedRight(uint64_t value, uint64_t bits, bool sign) const {
    if (sign) return static_cast<uint64_t>(Signed(value) >> (bits < 64 ? bits : 63));
    return bits < 64 ? value >> bits : 0;
  }

  void BinaryOperator(uint8_t op) {
    const uint64_t right = Pop();
    const uint64_t left = Pop();
    const int64_t signed_left = Signed(left);
    const int64_t signed_right = Signed(right);
    switch (op) {
      case DW_OP_and:
        return Push(left & right);
      case DW_OP_or:
        return Push(left | right);
      case DW_OP_xor:
        return Push(left ^ right);
      case DW_OP_plus:
        return Push(left + right);
      case DW_OP_minus:
        return Push(left - right);
      case DW_OP_mul:
        return Push(left * right);
      case DW_OP_div:
        if (right == 0) return Fail(Evaluation::kMalformed);
        // Divides by −1 separately, because the quotient of the smallest number does not fit.
        return Push(signed_right == -1 ? 0 - left
                                       : static_cast<uint64_t>(signed_left / signed_right));
      case DW_OP_mod:
        if (right == 0) return Fail(Evaluation::kMalformed);
        return Push(left % right);
      case DW_OP_shl:
        return Push(right < 64 ? left << right : 0);
      case DW_OP_shr:
        return Push(ShiftedRight(left, right, false));
      case DW_OP_shra:
        return Push(ShiftedRight(left, right, true));
      case DW_OP_eq:
        return Push(signed_left == signed_right ? 1 : 0);
      case DW_OP_ne:
        return Push(signed_left != signed_right ? 1 : 0);
      case DW_OP_lt:
        return Push(signed_left < signed_right ? 1 : 0);
      case DW_OP_le:
        return Push(signed_left <= signed_right ? 1 : 0);
      case DW_OP_gt:
        return Push(signed_left > signed_right ? 1 : 0);
      case DW_OP_ge:
        return Push(signed_left >= signed_right ? 1 : 0);
      default:
        return Fail(Evaluation::kMalformed);
    }
  }

  const std::span<const std::byte> expression_;
  const Architecture architecture_;
  DwarfReader code_;
  const RegisterSet& registers_;
  MemoryReader& memory_;
  Evaluation state_ = Evaluation::kDone;
  size_t depth_ = 0;
  std::array<uint64_t, kMaxDepth> stack_;
};

}  // namespace

Evaluation Evaluate(std::span<const std::byte> expression, const RegisterSet& registers,
                    MemoryReader& memory, std::optional<uint64_t> start, uint32_t* steps_left,
                    uint64_t* result) {
  Machine machine(expression, registers, memory);
  if (start) machine.Push(*start);
  return machine.Run(steps_left, result);
}

}  // namespace profiler::symbolize

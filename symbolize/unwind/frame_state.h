// Tracks a function's frame along its instructions: the positions of the return address and of the
// caller's frame pointer after each instruction.
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
//
// On AArch64 the return address is in the link register at first. Later the link register and the
// frame pointer are saved side by side in the frame:
//
//   stp x29, x30, [sp, #-32]!   │ locals             │ CFA − 16     CFA: the first stack pointer
//   mov x29, sp                 │ x30                │ CFA − 24
//                               │ caller's x29       │ ◀ sp = x29 = CFA − 32
//
// Sources: System V ABI, AMD64 supplement 1.0, 3.2.2 and 3.4.1 (a frame pointer of 0 is the
// outermost frame's); Procedure Call Standard for the Arm 64-bit Architecture, 2023Q3, 6.4.6.
//
// Private to this package.

#pragma once

#include <Zydis/Zydis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

struct FrameState {
  // Returns the state at a function's first instruction.
  static FrameState AtStart(Architecture architecture) {
    FrameState state;
    state.saved_return =
        HasLinkRegister(architecture) ? 0 : static_cast<int32_t>(WordSize(architecture));
    state.depth = state.saved_return;
    return state;
  }

  // Bytes from the stack pointer up to the CFA; empty: unknown.
  std::optional<int32_t> depth = 8;
  enum FramePointer : uint8_t {
    kOfCaller,   // fp still has the caller's frame pointer
    kOfFrame,    // fp points fp_depth bytes below the CFA
    kOutermost,  // fp was set to 0, and the caller's frame pointer is not saved
    kOther,      // fp has an unknown value
  };
  FramePointer fp = kOfCaller;
  int32_t fp_depth = 0;
  // Bytes from the slot of the caller's frame pointer up to the CFA; 0: not saved.
  int32_t saved_fp = 0;
  // Bytes from the slot of the return address up to the CFA; 0: not saved.
  int32_t saved_return = 8;
  bool keeps_link = true;  // true while the link register has the return address
  // True if all depths except saved_return count from the aligned stack pointer.
  bool is_aligned = false;
  // Register that holds the CFA; NONE: no register.
  ZydisRegister cfa_register = ZYDIS_REGISTER_NONE;
  int32_t saved_cfa = 0;  // slot in which cfa_register is saved; 0: not saved

  bool operator==(const FrameState&) const = default;

  // Returns the rule that finds the caller in this state; kNone if the caller cannot be found.
  UnwindRule Rule(Architecture architecture) const;
};

// Returns `depth` + `bytes`. Empty if `depth` is unknown or the result is no possible depth.
std::optional<int32_t> Deeper(std::optional<int32_t> depth, int64_t bytes);

// A decoded instruction.
class FrameInstruction {
 public:
  explicit FrameInstruction(Architecture architecture) : architecture_(architecture) {}

  enum class Flow : uint8_t {
    kNext,     // continues with the next instruction
    kCall,     // calls `target` and then continues with the next instruction
    kBranch,   // continues at `target` or with the next instruction
    kJump,     // continues at `target`
    kFarJump,  // continues at an address in a register or in memory
    kEnd,      // returns, or stops the program
  };

  // Decodes the first instruction of `code`, which must not be empty. Returns false if it is
  // invalid.
  bool Decode(std::span<const std::byte> code, ElfAddress address);

  size_t length() const;
  Flow flow() const;
  // Returns the target of kCall, kBranch and kJump; empty if it is not a constant.
  std::optional<ElfAddress> target() const;
  bool IsPadding() const;
  // Returns true if the instruction returns to the caller. Other instructions with Flow::kEnd stop
  // the program.
  bool Returns() const;
  // Returns true if the instruction saves a register of the caller (on AArch64 the link register),
  // reserves space on the stack, or marks a possible call target (endbr64, endbr32, bti c).
  bool IsPrologue() const;

  // Returns the state after the instruction.
  FrameState After(FrameState state) const;

 private:
  int32_t Word() const { return static_cast<int32_t>(WordSize(architecture_)); }
  bool IsI386() const { return architecture_ == Architecture::kI386; }
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

  const Architecture architecture_;
  ElfAddress address_;
  uint32_t code_ = 0;  // AArch64; the two members below: x86
  ZydisDecodedInstruction instruction_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
};

}  // namespace profiler::symbolize

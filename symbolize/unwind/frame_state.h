// What the instructions of a function do to its frame: where the return address and the caller's
// frame pointer are, behind each of them.
//
//                      │ return address     │  CFA − 8     CFA: where the stack pointer was
//   push rbp           │ caller's rbp       │  CFA − 16         before the call
//   mov rbp, rsp       │                    │ ◀ rbp
//   sub rsp, 24        │ locals             │
//                      │                    │ ◀ rsp = CFA − 40
//
// A function that aligns its stack for more than its callers do, as main does on i386, keeps the
// CFA in a register, and saves that. How far it moves the stack pointer does not show, so depths
// count from where it is moved to:
//
//   lea ecx, [esp + 4]         │ return address         │  CFA − 4
//   and esp, -16               │ …                      │
//                              ├────────────────────────┤  where depths count from
//   push dword ptr [ecx - 4]   │ return address         │
//   push ebp                   │ caller's ebp           │ ◀ ebp
//   mov ebp, esp; push ecx     │ CFA                    │
//
// On AArch64 the return address is in the link register at first, and both are saved somewhere in
// the frame, side by side:
//
//   stp x29, x30, [sp, #-32]!   │ locals             │ CFA − 16     CFA: where it was at first
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
  // At a function's first instruction.
  static FrameState AtStart(Architecture architecture) {
    FrameState state;
    state.saved_return =
        HasLinkRegister(architecture) ? 0 : static_cast<int32_t>(WordSize(architecture));
    state.depth = state.saved_return;
    return state;
  }

  // The stack pointer is that far below the CFA; empty where that is not known.
  std::optional<int32_t> depth = 8;
  enum FramePointer : uint8_t {
    kOfCaller,
    kOfFrame,    // fp_depth below the CFA
    kOutermost,  // set to 0 by code that does not keep the caller's
    kOther,
  };
  FramePointer fp = kOfCaller;
  int32_t fp_depth = 0;
  int32_t saved_fp = 0;      // the caller's frame pointer is that far below the CFA; 0: nowhere
  int32_t saved_return = 8;  // and so the return address; 0: nowhere
  bool keeps_link = true;    // it is in the link register as well
  bool is_aligned = false;   // depths but that of the return address count from the aligned stack
  ZydisRegister cfa_register = ZYDIS_REGISTER_NONE;  // has the CFA; NONE: no register
  int32_t saved_cfa = 0;                             // where that is saved; 0: nowhere

  bool operator==(const FrameState&) const = default;

  // Where nothing leads to the caller, kNone.
  UnwindRule Rule(Architecture architecture) const;
};

// By how far `depth` grows; empty where it was not known, and for frames that none is.
std::optional<int32_t> Deeper(std::optional<int32_t> depth, int64_t bytes);

// One instruction.
class FrameInstruction {
 public:
  explicit FrameInstruction(Architecture architecture) : architecture_(architecture) {}

  enum class Flow : uint8_t {
    kNext,
    kCall,     // and on to the next
    kBranch,   // to `target` or the next
    kJump,     // to `target`
    kFarJump,  // to where a register or memory says
    kEnd,      // it returns, or stops
  };

  // False where `code` begins with none. At least one byte.
  bool Decode(std::span<const std::byte> code, ElfAddress address);

  size_t length() const;
  Flow flow() const;
  // Of kCall, kBranch and kJump, where the instruction says it.
  std::optional<ElfAddress> target() const;
  bool IsPadding() const;
  // True if it returns to the caller. Another instruction of Flow::kEnd stops the program.
  bool Returns() const;
  // Whether it saves a register of the caller's (on AArch64 the link register), takes room on the
  // stack, or is the mark of what may be called from anywhere (endbr64, endbr32, bti c).
  bool IsPrologue() const;

  // Behind it.
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
  void Load(FrameState* state) const;   // lea
  void Align(FrameState* state) const;  // and
  void Move(FrameState* state) const;   // mov
  void Leave(FrameState* state) const;
  void Clobber(FrameState* state) const;

  const Architecture architecture_;
  ElfAddress address_;
  uint32_t code_ = 0;  // on AArch64; the others on x86
  ZydisDecodedInstruction instruction_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
};

}  // namespace profiler::symbolize

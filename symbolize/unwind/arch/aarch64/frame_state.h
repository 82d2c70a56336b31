// Tracks a function's frame along AArch64 instructions. The return address is in the link register
// at first. Later the link register and the frame pointer are saved side by side in the frame:
//
//   stp x29, x30, [sp, #-32]!   │ locals             │ CFA − 16     CFA: the first stack pointer
//   mov x29, sp                 │ x30                │ CFA − 24
//                               │ caller's x29       │ ◀ sp = x29 = CFA − 32
//
// Source: Procedure Call Standard for the Arm 64-bit Architecture, 2023Q3, 6.4.6.
//
// Private to this folder.

#pragma once

#include <cstdint>
#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/arch/frame_state.h"
#include "symbolize/unwind/arch/instruction.h"

namespace profiler::symbolize::aarch64 {

InstructionFlow ArmFlow(uint32_t code);
std::optional<ElfAddress> ArmTarget(uint32_t code, ElfAddress address);
bool IsArmPadding(uint32_t code);
bool IsArmPrologue(uint32_t code);
FrameState AfterArm(uint32_t code, FrameState state);

}  // namespace profiler::symbolize::aarch64

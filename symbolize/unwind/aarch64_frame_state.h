// Implements FrameInstruction (frame_state.h) for an AArch64 instruction, `code`.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {

FrameInstruction::Flow ArmFlow(uint32_t code);
std::optional<ElfAddress> ArmTarget(uint32_t code, ElfAddress address);
bool IsArmPadding(uint32_t code);
bool IsArmPrologue(uint32_t code);
FrameState AfterArm(uint32_t code, FrameState state);

}  // namespace profiler::symbolize

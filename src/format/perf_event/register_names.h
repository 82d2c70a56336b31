// Names the registers in a sample's register sets, as perf prints them.
// Source: tools/arch/*/include/uapi/asm/perf_regs.h and tools/perf/util/perf-regs-arch/, Linux 7.2.

#pragma once

#include <cstdint>
#include <string_view>

namespace profiler::perf_event {

enum class Architecture : uint8_t { kUnknown, kX86, kArm64, kArm, kRiscv, kPowerpc, kS390 };

// Returns the architecture for the machine name of uname(2) or of the ARCH feature: "x86_64",
// "aarch64", …
Architecture ArchitectureOf(std::string_view machine);

// Returns the architecture of this program, which is assumed for recordings that do not name
// theirs.
Architecture NativeArchitecture();

// Returns the name of the register for bit `bit` of a register mask; "unknown" if there is none.
// The text lives as long as the program.
std::string_view RegisterName(Architecture architecture, int bit);

}  // namespace profiler::perf_event

// Names of the registers in a sample's register sets, as perf prints them.
// Source: tools/arch/*/include/uapi/asm/perf_regs.h and tools/perf/util/perf-regs-arch/, Linux 7.2.

#pragma once

#include <cstdint>
#include <string_view>

namespace profiler::perf_event {

enum class Architecture : uint8_t { kUnknown, kX86, kArm64, kArm, kRiscv, kPowerpc, kS390 };

// From the machine name that uname(2) gives and the ARCH feature holds: "x86_64", "aarch64", …
Architecture ArchitectureOf(std::string_view machine);

// The one that this program runs on: what a recording that does not say is taken for.
Architecture NativeArchitecture();

// The name of the register that bit `bit` of a register mask stands for; "unknown" where there is
// none. Lives as long as the program.
std::string_view RegisterName(Architecture architecture, int bit);

}  // namespace profiler::perf_event

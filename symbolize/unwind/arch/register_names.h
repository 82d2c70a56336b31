// Names the registers of samples, as perf prints them, for each architecture of list.h. A target of
// its own without dependencies, for readers of recordings that unwind nothing.
//
// Source: tools/arch/*/include/uapi/asm/perf_regs.h and tools/perf/util/perf-regs-arch/, Linux 7.2.

#pragma once

#include <span>
#include <string_view>

#include "symbolize/unwind/arch/list.h"

namespace profiler::symbolize {

struct RegisterNames {
  // Returns true if `machine`, a name of uname(2) or of the ARCH feature, is of this architecture.
  bool (*belongs_to)(std::string_view machine);
  // Name of the register of each bit of a register mask (PERF_REG_*); empty: there is none.
  std::span<const std::string_view> names;
};

// Each folder defines its own in register_names.cc.
#define PROFILER_DECLARE(name) extern const RegisterNames k##name##RegisterNames;
PROFILER_ARCHITECTURES(PROFILER_DECLARE)
#undef PROFILER_DECLARE

// Returns the names for a machine; null if it is none of list.h.
const RegisterNames* RegisterNamesOf(std::string_view machine);

}  // namespace profiler::symbolize

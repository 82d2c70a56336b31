// Writes dumps as JITs do (jit_dump.h), for code found in a running process (vm_code.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "symbolize/symbols/vm_code.h"

namespace profiler::symbolize {

// Machine of bytecode dumps. ELF has none for bytecodes, so they are never disassembled.
inline constexpr uint16_t kBytecodeMachine = 0;  // EM_NONE

// Returns the header of a dump of process `pid`, begun at `time` (CLOCK_MONOTONIC, ns).
std::string JitDumpHeader(uint16_t machine, uint32_t pid, uint64_t time);

// Appends that `code` is in memory from `time` on. `index` is its number in the dump.
void AppendLoad(const VmCode& code, uint32_t pid, uint64_t time, uint64_t index, std::string* dump);

// Appends that code `index`, which was loaded before at `code.start`, is there again.
void AppendReturn(const VmCode& code, uint32_t pid, uint64_t time, uint64_t index,
                  std::string* dump);

}  // namespace profiler::symbolize

// Makes dumps as JITs do (jit_dump.h), of code that was met in a process (made_code.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "symbolize/symbols/made_code.h"

namespace profiler::symbolize {

// ELF has no machine for bytecodes of any kind: nothing of it is disassembled.
inline constexpr uint16_t kBytecodeMachine = 0;  // EM_NONE

// The header of a dump of process `pid`, as of `time` (CLOCK_MONOTONIC, ns).
std::string JitDumpHeader(uint16_t machine, uint32_t pid, uint64_t time);

// Appends that `code` is there from `time` on, as the piece of code `index` of the dump.
void AppendLoad(const MadeCode& code, uint32_t pid, uint64_t time, uint64_t index,
                std::string* dump);

// Appends that the piece `index`, loaded before at `code.start`, is there again.
void AppendReturn(const MadeCode& code, uint32_t pid, uint64_t time, uint64_t index,
                  std::string* dump);

}  // namespace profiler::symbolize

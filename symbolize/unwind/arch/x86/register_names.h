// Names of registers that x86-64 and i386 share: both have the bits PERF_REG_X86_*.
//
// Private to arch/.

#pragma once

#include <array>
#include <string_view>

namespace profiler::symbolize::x86 {

// Each vector register has two bits from 32 on, because its 128 bits are two words.
inline constexpr std::array<std::string_view, 64> kRegisterNames = {
    "AX",    "BX",    "CX",    "DX",    "SI",    "DI",    "BP",    "SP",     //
    "IP",    "FLAGS", "CS",    "SS",    "DS",    "ES",    "FS",    "GS",     //
    "R8",    "R9",    "R10",   "R11",   "R12",   "R13",   "R14",   "R15",    //
    "",      "",      "",      "",      "",      "",      "",      "",       //
    "XMM0",  "XMM0",  "XMM1",  "XMM1",  "XMM2",  "XMM2",  "XMM3",  "XMM3",   //
    "XMM4",  "XMM4",  "XMM5",  "XMM5",  "XMM6",  "XMM6",  "XMM7",  "XMM7",   //
    "XMM8",  "XMM8",  "XMM9",  "XMM9",  "XMM10", "XMM10", "XMM11", "XMM11",  //
    "XMM12", "XMM12", "XMM13", "XMM13", "XMM14", "XMM14", "XMM15", "XMM15"};

}  // namespace profiler::symbolize::x86

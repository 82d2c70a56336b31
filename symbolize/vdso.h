// The vdso, which the kernel maps into each process and has no file of: a small library of system
// calls. A kernel of x86-64 has another one for programs with 32 bits, where all their system calls
// are made and their signal handlers return to.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace profiler::symbolize {

// What the image of programs with 32 bits is called. The kernel calls both [vdso].
inline constexpr std::string_view kVdsoOf32Bit = "[vdso32]";

// The ELF file that this process has mapped; empty where it has none. Valid for ever.
std::span<const std::byte> OwnVdso();

// The one of programs with 32 bits, empty where this kernel gives none. The first call asks for it
// in a child of this process, which takes a millisecond; under a seccomp filter that permits no
// fork there is none, unless it was asked for before. Valid for ever. Thread-safe.
std::span<const std::byte> VdsoOf32Bit();

}  // namespace profiler::symbolize

// The vdso: a small library of system calls that the kernel maps into each process and that has no
// file. A kernel of x86-64 has a second one for 32-bit programs, which make all their system calls
// there and whose signal handlers return to it.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace profiler::symbolize {

// Path that stands for the 32-bit vdso in an ImageSpec. The kernel calls both [vdso].
inline constexpr std::string_view kVdsoOf32Bit = "[vdso32]";

// Returns the vdso that this process has mapped; empty: none. Valid for the whole run.
std::span<const std::byte> OwnVdso();

// Returns the vdso of 32-bit programs; empty if the kernel provides none. The first call maps it in
// a child process, which takes a millisecond; if a seccomp filter forbids to fork then, it is
// empty. Valid for the whole run. Thread-safe.
std::span<const std::byte> VdsoOf32Bit();

}  // namespace profiler::symbolize

// The vdso: a small library of system calls that the kernel maps into each process; it is not a
// file. An x86-64 kernel has a second vdso for 32-bit programs. These programs make all their
// system calls in it, and their signal handlers return to it.

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
// a child process, which takes a millisecond. The result is empty if a seccomp filter forbids to
// fork at that time. Valid for the whole run. Thread-safe.
std::span<const std::byte> VdsoOf32Bit();

}  // namespace profiler::symbolize

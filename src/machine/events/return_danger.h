// Checks whether a return probe on a function may crash the programs that contain it.
//
// A return probe replaces the return address on the stack, and only a plain return handles that.
// Exceptions, the cancellation of a thread and Go's runtime read return addresses themselves. They
// find an address that belongs to no function, and end the program (SIGABRT, Go's "unexpected
// return pc") or skip cleanup. A longjmp to another stack, or a function that returns twice, breaks
// the kernel's list of return addresses (SIGILL). Tested with Linux 6.18.

#pragma once

#include <string>

#include "src/machine/events/event_text.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::events {

// Returns why a return probe in the program or library `elf` is dangerous, as part of a sentence,
// such as "it has exception handlers, …". Empty if a plain return seems to be the only way out of
// the function.
//
//   Go                                        refused
//   exception tables, C++ or Rust             refused
//   longjmp, pthread_exit, swapcontext, …     refused if the image itself uses them
//   not at a function's first instruction     refused
//   libc, libm, the dynamic linker            refused only for functions that call back or return
//                                             twice; the exception tables serve cancellation
//   any other                                 allowed
std::string DangerAtReturn(const symbolize::ElfImage& elf, const Probe& probe);

}  // namespace profiler::events

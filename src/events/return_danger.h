// Says whether a return probe on a function may end the programs that it is put into.
//
// A return probe replaces the return address on the stack, and only a plain return finds its way
// back. An exception, the end of a thread that was cancelled, and Go's runtime read return
// addresses themselves; they find one that belongs to no function, and end the program (SIGABRT,
// Go's "unexpected return pc") or leave out what was to be cleaned up. A longjmp to another stack,
// or a function that returns twice, brings the kernel's own account out of step (SIGILL). Tried
// with Linux 6.18.

#pragma once

#include <string>

#include "src/events/event_text.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::events {

// Returns what is dangerous about a return probe in the program or library `elf`, as a whole
// sentence part such as "it has exception handlers, …"; empty where a plain return is the only way
// out of the function that is known.
//
//   Go                                        refused
//   exception tables, C++ or Rust             refused
//   longjmp, pthread_exit, swapcontext, …     refused where the image itself uses them
//   not at a function's first instruction     refused
//   libc, libm, the dynamic linker            only functions that call back or return twice are
//                                             refused. Their own tables are for cancellation
//   any other                                 allowed
std::string DangerAtReturn(const symbolize::ElfImage& elf, const Probe& probe);

}  // namespace profiler::events

// Decides from instructions if a function is the first one of its stack. Such a function has no
// caller, although its call frame information may not say so.
//
// Private to this package.

#pragma once

#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"

namespace profiler::symbolize {

// Returns true if the code at `address` never returns but stops the program or the thread: its last
// call is followed by an instruction that no program may run. One example is the code with which
// musl starts threads. Another is the code to which a coroutine's first function returns in Boost
// (make_fcontext); that code follows no call. Always false on architectures with a link register.
bool StopsAhead(const CodeSpace& space, RuntimeAddress address);

// Returns true if `frame`, which was interrupted, belongs to a thread that a system call has just
// started. The thread's first instruction is the one after that call, in a function that its parent
// called. So the link register and the call frame information describe the parent. In the new
// thread, the system call has returned 0, and a branch behind it leads to code that has no caller by
// its call frame information. The registers of clone prove nothing: glibc's vfork for AArch64 passes
// the parent's stack pointer, and its child has the parent's callers.
bool IsNewThread(const CodeSpace& space, const ChainFrame& frame);

// Returns true if `address` of the image `mapped` is in the code at the image's entry point. Other
// functions may follow that code, for example i386's function that reads the pc. They begin after
// an instruction that does not continue to the next one. `mapped` must have a table.
bool IsInEntryPoint(const CodeSpace& space, const MappedCode& mapped, ElfAddress address);

// Returns true if `instruction` is in the function at the entry point of the image `mapped`, which
// the kernel starts. False if `mapped` has no table.
bool IsInFirstFunction(const CodeSpace& space, const MappedCode& mapped,
                       RuntimeAddress instruction);

// Returns true if a function begins at `address` of the image `mapped` that never returns: no path
// reaches a return, or leaves the function except by a call. False for functions of more than 512
// bytes. `mapped` must have a table.
bool NeverReturns(const CodeSpace& space, const MappedCode& mapped, ElfAddress address);

}  // namespace profiler::symbolize

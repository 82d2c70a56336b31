// What a mapping of user code is of, told by the name that its record gives it.
//
//   /usr/lib/libc.so.6                        kUser
//   [vdso], [vdso32], [vdsox32]               kVdso
//   "", //anon, /dev/zero, /anon_hugepage,    kJit        memory that JIT compilers fill
//     [heap], [stack…, /SYSV…
//   …/jit-PID.dump                            kJitDump    says that there is a dump; is no code
//   /memfd:…, [vsyscall], [uprobes], /[aio]   kAnonymous
//   /memfd:… with a build-id                  kUser       an ELF file that has no other name
//
// Source: map__new() in tools/perf/util/map.c, Linux 6.1. Recorder and readers share this, so that
// what the recorder unwinds through is what the report shows.

#pragma once

#include <cstdint>
#include <string_view>

#include "symbolize/symbolizer.h"

namespace profiler::sideband {

// What the image of a mapping is called: as its record says, but for the vdso of a program with 32
// bits, kVdsoOf32Bit, which the kernel calls [vdso] as well. It is mapped where such a program can
// reach it, far below the other one.
std::string_view NameOfUserImage(std::string_view filename, uint64_t address);

// Thread-safe.
symbolize::ImageKind KindOfUserImage(std::string_view filename, bool has_build_id = false);

}  // namespace profiler::sideband

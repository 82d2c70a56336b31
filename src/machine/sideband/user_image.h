// Classifies the image of a user code mapping by the file name in its record.
//
//   /usr/lib/libc.so.6                        kUser
//   [vdso], [vdso32], [vdsox32]               kVdso
//   "", //anon, /dev/zero, /anon_hugepage,    kJit        memory that JIT compilers fill
//     [heap], [stack…, /SYSV…
//   …/jit-PID.dump                            kJitDump    announces a dump; has no code
//   /memfd:…, [vsyscall], [uprobes], /[aio]   kAnonymous
//   /memfd:… with a build-id                  kUser       an ELF file that has no other name
//
// Source: map__new() in tools/perf/util/map.c, Linux 6.1. The recorder and the readers share this,
// so that reports show the images that the recorder unwinds through.

#pragma once

#include <cstdint>
#include <string_view>

#include "symbolize/symbolizer.h"

namespace profiler::sideband {

// Returns the name of a mapping's image. It is the name in the record, except for the vdso of a
// 32-bit program: the kernel calls that [vdso], too, but its image is kVdsoOf32Bit. This vdso is
// recognised by its address, which is low enough for a 32-bit program.
std::string_view NameOfUserImage(std::string_view filename, uint64_t address);

// Returns the kind of the image. Thread-safe.
symbolize::ImageKind KindOfUserImage(std::string_view filename, bool has_build_id = false);

}  // namespace profiler::sideband

// Lists the architectures whose programs can be unwound. Each line names a folder beside this file;
// the folder's NAME.cc defines `k<name>Traits` (architecture.h).
//
// A machine may run programs of two architectures, such as x86-64 and i386. Then both are listed.

#pragma once

#define PROFILER_ARCHITECTURES(ARCHITECTURE) \
  ARCHITECTURE(X86_64)                       \
  ARCHITECTURE(I386)                         \
  ARCHITECTURE(AArch64)

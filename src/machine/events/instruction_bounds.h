// Checks whether a probe lies at the beginning of an instruction.
//
// A uprobe replaces the first byte of an instruction by a breakpoint. On x86 the kernel accepts any
// offset. In the middle of an instruction the new byte changes what the program computes
// (CVE-2025-38466). Other architectures have instructions of one size, and the kernel refuses
// offsets between them.

#pragma once

#include <cstdint>

#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::events {

// Decodes the function that starts at `function`, up to `offset` bytes after its start. Returns OK
// if an instruction begins at `offset`. Returns kInvalidArgument if `offset` is inside an
// instruction (the message has the offsets at which that instruction begins and ends), or if the
// code before `offset` cannot be decoded. Always returns OK for machines other than x86.
absl::Status CheckBeginsInstruction(const symbolize::ElfImage& elf, ElfAddress function,
                                    uint64_t offset);

}  // namespace profiler::events

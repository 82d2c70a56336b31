// Finds the kernel's own ELF file, which has its debug information, if it is installed (Debian:
// linux-image-RELEASE-dbg).
//
//   first                         SymbolizerOptions::vmlinux
//   in the debug directories      .build-id/ab/cdef.debug
//                                 boot/vmlinux-RELEASE, lib/modules/RELEASE/vmlinux
//   in perf's caches              .build-id/ab/cdef/vmlinux, …/elf
//                                 [kernel.kallsyms]/abcdef/kallsyms: names only
//   for the running kernel        /boot/vmlinux-RELEASE, /lib/modules/RELEASE/build/vmlinux
//
// RELEASE is that of the running kernel. A file with another build-id than the requested one is
// never used. Source of the paths: perf, tools/perf/util/symbol.c (vmlinux_path__init), Linux 7.2.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Returns the first file that has symbols or debug information. For an empty build-id, returns only
// SymbolizerOptions::vmlinux.
std::optional<ImageFile> OpenVmlinux(std::span<const std::byte> build_id,
                                     const SymbolizerOptions& options);

// Returns paths at which perf's caches keep the symbols (kallsyms) of the kernel with this
// build-id.
std::vector<std::string> PathsOfCachedKallsyms(std::span<const std::byte> build_id,
                                               const SymbolizerOptions& options);

// Returns the link address of _text or _stext, whichever `reference` names; recordings use them to
// store the kernel's address. Returns 0 for other names.
ElfAddress LinkedAddress(const ElfImage& vmlinux, std::string_view reference);

}  // namespace profiler::symbolize

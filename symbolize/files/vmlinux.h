// Finds the kernel's own ELF file, which is where its debug information is, if that is installed
// (Debian: linux-image-RELEASE-dbg).
//
//   below the debug directories   .build-id/ab/cdef.debug
//                                 boot/vmlinux-RELEASE, lib/modules/RELEASE/vmlinux
//   in perf's caches              .build-id/ab/cdef/vmlinux, …/elf
//                                 [kernel.kallsyms]/abcdef/kallsyms: names alone
//   for the running kernel        /boot/vmlinux-RELEASE, /lib/modules/RELEASE/build/vmlinux
//
// RELEASE is the running kernel's. Nothing is used of a file with another build-id than the one
// asked for. As perf looks: tools/perf/util/symbol.c (vmlinux_path__init), Linux 7.2.
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

// The first one that has symbols or debug information; none for an empty build-id.
std::optional<ImageFile> OpenVmlinux(std::span<const std::byte> build_id,
                                     const SymbolizerOptions& options);

// Returns paths at which perf's caches keep the symbols (kallsyms) of the kernel with this
// build-id.
std::vector<std::string> PathsOfCachedKallsyms(std::span<const std::byte> build_id,
                                               const SymbolizerOptions& options);

// Where `vmlinux` was linked to have _text or _stext, by which recordings say where the kernel was;
// 0 for all else.
ElfAddress LinkedAddress(const ElfImage& vmlinux, std::string_view reference);

}  // namespace profiler::symbolize

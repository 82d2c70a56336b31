// Reads the static probes (USDT) of an ELF file, from the notes that SystemTap's <sys/sdt.h> writes.
//
//   .note.stapsdt  one note for each probe, with the name "stapsdt" and the type 3. Its contents,
//                  with addresses of 4 or 8 bytes:
//
//                    [ location ][ base ][ semaphore ][ provider\0 name\0 arguments\0 ]
//
//   .stapsdt.base  a section at the address `base`. If it is at another address, prelink(8) moved
//                  the file after the link, and all addresses of the notes move by as much.
//
// Source: SystemTap 4.8, includes/sys/sdt.h, and its wiki, UserSpaceProbeImplementation.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// The strings point into the bytes of the file.
struct StaticProbe {
  std::string_view provider;
  std::string_view name;
  std::string_view arguments;  // sizes and operands, as "-4@%edi 8@16(%rbp)"
  ElfAddress location;         // address of a nop, which a debugger replaces by a breakpoint
  // Address of a 16-bit counter of the tracers. The program only prepares the arguments while it is
  // not zero. Empty if the probe is always ready.
  std::optional<ElfAddress> semaphore;
};

// Returns the probes in the order of the notes. Leaves out notes that are cut off, and probes whose
// provider or name has another character than letters, digits, '_', '-' and '.'. Returns at most
// 65,536 probes.
std::vector<StaticProbe> ReadStaticProbes(const ElfImage& image);

}  // namespace profiler::symbolize

// Finds the build-id among ELF notes.
//
//   u32 name size │ u32 descriptor size │ u32 type │ name, padded │ descriptor, padded │ next note
//
// Source: System V ABI, chapter 5, "Note Section"; NT_GNU_BUILD_ID in <elf.h>.

#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/byte_reader.h"

namespace profiler {

// The longest build-id that is accepted, in bytes: four times the default of linkers, 20. The limit
// keeps its hexadecimal form short enough for a file name.
inline constexpr size_t kMostBuildId = 80;

// Returns the descriptor of the first NT_GNU_BUILD_ID note of a PT_NOTE segment or of
// /sys/kernel/notes, as a view of `notes`. Empty if there is none, or if it is longer than
// kMostBuildId. Names and descriptors are padded to 8 bytes if `alignment` is 8, otherwise to 4. A
// truncated note ends the search.
inline std::span<const std::byte> BuildIdInNotes(std::span<const std::byte> notes,
                                                 uint64_t alignment = 4) {
  const uint64_t mask = (alignment == 8 ? 8 : 4) - 1;
  ByteReader reader(notes);
  while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto header = reader.Read<Elf64_Nhdr>();
    const auto padded = [mask](uint64_t size) { return (size + mask) & ~mask; };
    if (padded(header.n_namesz) > reader.remaining()) return {};
    const auto name = reader.ReadBytes(padded(header.n_namesz)).first(header.n_namesz);
    if (header.n_descsz > reader.remaining()) return {};
    const auto descriptor = reader.ReadBytes(header.n_descsz);
    reader.Skip(std::min<uint64_t>(padded(header.n_descsz) - header.n_descsz, reader.remaining()));
    if (header.n_type == NT_GNU_BUILD_ID && TextOf(name) == std::string_view("GNU\0", 4)) {
      return descriptor.size() <= kMostBuildId ? descriptor : std::span<const std::byte>();
    }
  }
  return {};
}

}  // namespace profiler

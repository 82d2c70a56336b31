// Gives libdw selected sections to read instead of a file.
//
// libdw reads whole files. It keeps everything that it has read until the file is closed. For each
// unit of a hostile file it may read a whole section again. It also opens split files that the
// debug information names. Therefore libdw never gets a file. It gets one unit at a time (see
// dwarf_file.h), as an ELF file in memory:
//
//   ELF header │ section headers │ section names
//                  .debug_info ──────▶ bytes of one unit, in place
//                  .debug_abbrev ────▶ …
//
// elf_rawdata(3) makes it possible to replace the contents of these sections without copying.

#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "symbolize/dwarf/sections.h"

namespace profiler::symbolize::dwarf {

// A libdw handle over sections. Movable. Not thread-safe.
class LibdwSections {
 public:
  // Opens the sections; empty if libdw rejects them. `address_size` is 4 or 8 bytes. The sections'
  // bytes, and kReadableBehind readable bytes after each section, must outlive the result. Cost:
  // about 10 µs.
  static std::optional<LibdwSections> Open(const SectionViews& sections, unsigned address_size);

  LibdwSections(LibdwSections&& other) noexcept;
  LibdwSections& operator=(LibdwSections&&) = delete;
  ~LibdwSections();

  Dwarf* dwarf() const { return dwarf_; }

 private:
  LibdwSections() = default;

  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
};

}  // namespace profiler::symbolize::dwarf

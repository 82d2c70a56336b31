// What libdw is given to read: some sections, and nothing else.
//
// libdw reads whole files. It keeps what it has read of each unit until the file is closed, and for
// each unit of a hostile file may read all of a section again; a split unit's file it opens by the
// name that a file tells. So it never gets to see a file: it gets one unit at a time (see
// dwarf_file.h), as an ELF file in memory that has sections of these names,
//
//   ELF header │ section headers │ section names
//                  .debug_info ──────▶ bytes of one unit, where they are
//                  .debug_abbrev ────▶ …
//
// whose contents are put in place of the file's by elf_rawdata(3). No byte is copied.

#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "symbolize/dwarf/sections.h"

namespace profiler::symbolize::dwarf {

// Movable. libdw's handles are not thread-safe.
class LibdwSections {
 public:
  // `address_size` is 4 or 8. The bytes, and kReadableBehind more behind each section, must outlive
  // the result. Empty where libdw finds nothing to read in them. Cost: some 10 µs.
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

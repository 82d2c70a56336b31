// Reads the function table of Go programs, .gopclntab, which Go's runtime uses itself. Programs
// have the table even if they are built without symbols and DWARF (-ldflags "-s -w"), as most
// shipped programs are.
//
//   header      magic, counts, offsets of the parts below
//   names       NUL-terminated
//   pc tables   each maps a function's instruction addresses to frame sizes, or to other values
//   functions   ┌ start, offset of its record ┐ sorted by start; after the last one its end
//               └ … ─────────────────────────▶ record: name, pc table of the frame, flags
//
// Source: Go's src/runtime/symtab.go and src/internal/abi/symtab.go, versions 1.16 to 1.27. Tables
// of older versions are not read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

struct GoFunction {
  ElfAddress start;
  uint64_t size = 0;
  std::string_view name;     // a view into the file
  uint32_t name_offset = 0;  // offset of `name` in GoFunctions::names()
  // True if the function has no caller: a thread or goroutine starts in it, or the thread chooses
  // its next work in it (runtime.mcall).
  bool is_outermost = false;
  // True if the function writes the stack pointer, usually to switch to another stack.
  bool switches_stack = false;
  uint32_t frame_sizes = 0;  // offset of the pc table with the function's frame sizes
};

// The function table of an image. A view: the image's bytes must outlive it. Immutable, so
// thread-safe. Never reads outside the file, whatever the table says.
class GoFunctions {
 public:
  // Finds the table. Empty if the image has none, or one of an unsupported version.
  static std::optional<GoFunctions> Find(const ElfImage& image);

  size_t size() const { return count_; }
  // Names, each terminated by NUL.
  std::span<const std::byte> names() const { return names_; }
  // Returns a function by its index. Empty if the table is damaged.
  std::optional<GoFunction> operator[](size_t index) const;
  // Returns the function that contains the instruction. O(log n).
  std::optional<GoFunction> At(ElfAddress instruction) const;

  // Returns the frame's size in bytes just before the instruction runs: the distance by which the
  // stack pointer is lower than at the function's start. Empty if the table does not have it. Reads
  // the function's pc table in order and adds the number of entries read to `*steps`.
  std::optional<uint64_t> FrameSize(const GoFunction& function, ElfAddress instruction,
                                    uint64_t* steps) const;

 private:
  // Positions and sizes of fields in one version of the table.
  struct Layout;
  struct Header;

  GoFunctions() = default;
  static std::optional<GoFunctions> Read(const ElfImage& image, ElfAddress address,
                                         std::span<const std::byte> all);
  uint64_t EntryWord(size_t index, size_t word) const;
  uint64_t StartOf(size_t index) const;

  const Layout* layout_ = nullptr;
  std::span<const std::byte> names_, pc_tables_, functions_;
  size_t count_ = 0;
  uint64_t text_ = 0;  // address to which the starts of functions are relative
  uint32_t quantum_ = 1;
};

}  // namespace profiler::symbolize

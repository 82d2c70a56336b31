// The functions of a program that Go's compiler made, as its runtime finds them: the table
// .gopclntab, which a program has even where its symbols and its DWARF were left out (-ldflags
// "-s -w"), as most that are shipped have not.
//
//   header      magic, counts, where each of these begins
//   names       NUL-terminated
//   pc tables   of each function: from which instruction on its frame has which size, and others
//   functions   ┌ start, where its record is ┐ by start; behind the last one where that ends
//               └ … ────────────────────────▶ record: name, pc table of the frame, flags
//
// Source: Go's src/runtime/symtab.go and src/internal/abi/symtab.go, versions 1.16 to 1.27. What
// older versions wrote is not read.

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
  std::string_view name;     // in the file
  uint32_t name_offset = 0;  // of it in GoFunctions::names()
  // Nothing called it: its thread or its goroutine starts here, or what the thread does next is
  // chosen here (runtime.mcall).
  bool is_outermost = false;
  // It writes the stack pointer, mostly to go on on another stack.
  bool switches_stack = false;
  uint32_t frame_sizes = 0;  // where its pc table is, for FrameSize
};

// A view of the image's bytes, which must outlive it. Immutable, so safe to share between threads.
// Nothing is read outside of the file, whatever it says.
class GoFunctions {
 public:
  // Empty where the image has no such table, or none that is known.
  static std::optional<GoFunctions> Find(const ElfImage& image);

  size_t size() const { return count_; }
  // NUL-terminated, one behind the other.
  std::span<const std::byte> names() const { return names_; }
  // Empty where the table is damaged.
  std::optional<GoFunction> operator[](size_t index) const;
  // The function that has the instruction. A binary search.
  std::optional<GoFunction> At(ElfAddress instruction) const;

  // How far the stack pointer is below where it was when the function was called, in bytes, before
  // the instruction runs. Empty where that is not said. Goes through the function's table: adds to
  // `*steps` how many entries it has read.
  std::optional<uint64_t> FrameSize(const GoFunction& function, ElfAddress instruction,
                                    uint64_t* steps) const;

 private:
  // Of a version: where its records have what.
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
  uint64_t text_ = 0;  // what starts are counted from
  uint32_t quantum_ = 1;
};

}  // namespace profiler::symbolize

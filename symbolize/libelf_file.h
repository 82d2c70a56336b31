// An ELF file as libelf reads it, for as long as something is read of it.
//
// The bytes may say anything, and are part of a file that others may write to. What libelf does
// with them, in versions 0.188 to 0.192:
//
//   it reads them in place        so nothing is copied; only elf_compress and what else is there to
//                                 write would change them, and these are not called
//   numbers of headers            are bounded by the size of the file; see LibelfFile for sections
//   gelf_get… by index            are bounded by the table that they read
//   tables of odd alignment       are copied, so a table is asked for once and not for each entry
//
// Private to //symbolize and its packages.

#pragma once

#include <gelf.h>

#include <cstddef>
#include <memory>
#include <span>

namespace profiler::symbolize {

// The bytes must outlive it. Not thread-safe; different objects of the same bytes are.
class LibelfFile {
 public:
  // elf_memory makes an object of 200 bytes for each section that the file has, so a file that has
  // room for millions of them, and does not say how many in its header, is not opened.
  explicit LibelfFile(std::span<const std::byte> bytes);

  // For libelf's functions; null, and they fail then, for what is no ELF file.
  Elf* get() const { return elf_.get(); }

  // The whole entries of `contents`, which are a part of the file's bytes, for gelf_getsym and its
  // kind; null where there are none, and these fail then. Good as long as this object.
  Elf_Data* Table(std::span<const std::byte> contents, Elf_Type type) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  using Handle = std::unique_ptr<Elf, End>;

  static Handle Open(std::span<const std::byte> bytes);
  static bool MayHaveMillionsOfSections(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes_;
  Handle elf_;
};

}  // namespace profiler::symbolize

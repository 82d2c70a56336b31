// An ELF file as libelf reads it, for as long as something is read of it.
//
// The bytes may say anything, and be part of a file that others write to. What libelf, from 0.188
// to 0.192, does with them:
//
//   it reads them in place       what else it would do with them, elf_compress for one, writes into
//                                them and is not called
//   headers that are counted     are believed if the file is large enough; see LibelfFile
//   entries by index             are those inside of their table, or none
//   a table at an odd address    is copied once, and the copy kept as long as the handle
//
// Private to //symbolize and its packages.

#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace profiler::symbolize {

// The bytes must outlive it. Not thread-safe; different objects of the same bytes are.
class LibelfFile {
 public:
  // elf_memory makes an object of 200 bytes for each section, so a file is not opened that has room
  // for more than a million of them and does not count them in its header.
  explicit LibelfFile(std::span<const std::byte> bytes);

  // Of sections and segments, as the header of an ELF file counts them; 0 of another file. Reads
  // the header alone: where it leaves the number to the first section, it is as many as have room.
  static size_t CountHeaders(std::span<const std::byte> bytes);

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
  // How many sections have room in the file, where the header does not count them; else 0.
  static uint64_t RoomForUncounted(const GElf_Ehdr& header, uint64_t size);

  std::span<const std::byte> bytes_;
  Handle elf_;
};

}  // namespace profiler::symbolize

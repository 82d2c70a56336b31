// Opens an ELF file with libelf. A handle is kept only while the file is read.
//
// The bytes are untrusted, and may belong to a file that others write to. libelf 0.188 to 0.192
// behaves like this:
//
//   bytes                       are read in place; functions that write to them, such as
//                               elf_compress, are not used
//   number of headers           is believed if the file is large enough; see LibelfFile
//   entries by index            are checked against the size of their table
//   table at an odd address     is copied once; the handle keeps the copy
//
// Private to //symbolize and its packages.

#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace profiler::symbolize {

// A libelf handle. The bytes must outlive it. Not thread-safe, but threads may use different
// objects for the same bytes.
class LibelfFile {
 public:
  // Opens the file. elf_memory allocates 200 bytes per section. Therefore a file is refused if its
  // header does not count the sections and more than a million of them would fit into it.
  explicit LibelfFile(std::span<const std::byte> bytes);

  // Returns the number of sections and segments in the header of an ELF file; 0 for another file.
  // If the header does not count the sections, because the first section header does, returns how
  // many fit into the file.
  static size_t CountHeaders(std::span<const std::byte> bytes);

  // Handle for libelf's functions. Null if the file is no ELF file; with null these functions fail.
  Elf* get() const { return elf_.get(); }

  // Returns the whole entries of `contents`, a part of the file's bytes, for gelf_getsym and
  // similar functions. Null, with which these functions fail, if there are no whole entries. Valid
  // as long as this object.
  Elf_Data* Table(std::span<const std::byte> contents, Elf_Type type) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  using Handle = std::unique_ptr<Elf, End>;

  static Handle Open(std::span<const std::byte> bytes);
  static bool MayHaveMillionsOfSections(std::span<const std::byte> bytes);
  // Returns how many sections fit into the file if the header does not count them; else 0.
  static uint64_t RoomForUncounted(const GElf_Ehdr& header, uint64_t size);

  std::span<const std::byte> bytes_;
  Handle elf_;
};

}  // namespace profiler::symbolize

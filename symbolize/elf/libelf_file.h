// Opens an ELF file with libelf. A handle is kept only while the file is read.
//
// The bytes are untrusted, and may belong to a file that others write to. libelf 0.188 to 0.192
// behaves like this:
//
//   bytes                       are read in place; functions that write to them, such as
//                               elf_compress, are not used
//   number of headers           is believed if the file is large enough (see LibelfFile)
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
  // Opens the file. elf_memory allocates 200 bytes per section. Therefore a file is refused if the
  // ELF header does not have the number of sections and more than a million would fit into the
  // file.
  explicit LibelfFile(std::span<const std::byte> bytes);

  // Returns the number of sections and segments of an ELF file; 0 for other files. Reads the ELF
  // header. If the number of sections is in the first section header instead, returns the number
  // that would fit into the file.
  static size_t CountHeaders(std::span<const std::byte> bytes);

  // Returns the handle for libelf's functions. Null if the file is no ELF file; libelf's functions
  // fail for null.
  Elf* get() const { return elf_.get(); }

  // Returns a table for gelf_getsym and similar functions. Its entries are the complete entries in
  // `contents`, a part of the file's bytes. Null if there are none; gelf_getsym fails for null. The
  // table is valid as long as this object.
  Elf_Data* Table(std::span<const std::byte> contents, Elf_Type type) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  using Handle = std::unique_ptr<Elf, End>;

  static Handle Open(std::span<const std::byte> bytes);
  static bool MayHaveMillionsOfSections(std::span<const std::byte> bytes);
  // If the ELF header does not have the number of sections, returns the number that would fit into
  // the file; else 0.
  static uint64_t RoomForUncounted(const GElf_Ehdr& header, uint64_t size);

  std::span<const std::byte> bytes_;
  Handle elf_;
};

}  // namespace profiler::symbolize

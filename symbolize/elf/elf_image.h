// Reads one ELF file into checked tables: segments, sections, build-id. libelf reads the headers.
// The tables of segments and sections are copied, because threads can share these but not a libelf
// handle. No byte outside the file is read, whatever its headers say.
//
// Source: System V ABI, chapters 4 and 5; <elf.h>. 32 and 64 bits, in the byte order of this
// machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/elf/file_holes.h"

namespace profiler::symbolize {

// A PT_LOAD program header.
struct ElfSegment {
  FileOffset offset;
  ElfAddress address;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  bool executable = false;
};

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;   // SHT_…
  uint64_t flags = 0;  // SHF_…
  ElfAddress address;
  FileOffset offset;
  // Size in memory. `contents` is shorter for SHT_NOBITS, in a truncated file, and if is_cut.
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
  std::span<const std::byte> contents;
  bool is_cut = false;  // `contents` ends at a hole of the file

  bool Holds(ElfAddress a) const { return a >= address && a.value - address.value < size; }
};

// The tables of one ELF file. A view: the bytes must outlive it. Immutable, so thread-safe.
class ElfImage {
 public:
  // Reads the tables of an ELF file. `holes` are the file's holes: the contents of a section or a
  // note end at the first hole in it. Data of a program may contain holes, which BytesAt returns as
  // zeros. If the file has the other byte order, only its symbols and its build-id can be read, no
  // contents of other sections. Errors: kDataLoss if `bytes` are no ELF file, or if a header or
  // table lies outside of them.
  static absl::StatusOr<ElfImage> Parse(std::span<const std::byte> bytes,
                                        std::span<const FileHole> holes = {});

  std::span<const std::byte> bytes() const { return bytes_; }
  // Number of bytes outside of holes.
  uint64_t solid_size() const { return solid_size_; }
  bool is_64_bit() const { return is_64_bit_; }
  uint16_t type() const { return type_; }        // ET_…
  uint16_t machine() const { return machine_; }  // EM_…
  ElfAddress entry() const { return entry_; }    // address at which a program starts

  std::span<const ElfSegment> segments() const { return segments_; }
  // Returns all sections, by their index in the file; 0 is the null section.
  std::span<const ElfSection> sections() const { return sections_; }
  // Returns the first section of that name or type; null: none.
  const ElfSection* FindSection(std::string_view name) const;
  const ElfSection* FindSectionOfType(uint32_t type) const;
  const ElfSection* section(size_t index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }

  // Returns the descriptor of the NT_GNU_BUILD_ID note; empty: none.
  std::span<const std::byte> build_id() const { return build_id_; }

  // Returns the memory address of the byte at `offset`. Searches segments that contain it,
  // executable ones first. The kernel maps whole pages, so the first and last page of a segment
  // belong to it too, but a segment that contains the byte itself wins. Empty if no segment has it.
  std::optional<ElfAddress> AddressOf(FileOffset offset) const;
  std::optional<FileOffset> OffsetOf(ElfAddress address) const;

  // Returns at most `size` bytes from `address`; fewer if the file has fewer.
  std::span<const std::byte> BytesAt(ElfAddress address, size_t size) const;

 private:
  struct Reader;

  std::span<const std::byte> bytes_;
  uint64_t solid_size_ = 0;
  bool is_64_bit_ = true;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  ElfAddress entry_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
  std::span<const std::byte> build_id_;
};

// Returns DIRECTORY/.build-id/ab/cdef…, the path of a file (or of a directory of files) with that
// build-id. Empty if the build-id has less than two bytes.
std::string BuildIdPath(std::string_view directory, std::span<const std::byte> build_id);

// Returns true if both are the same build-id. Ignores zeros at the end: perf.data pads to 20 bytes.
bool SameBuildId(std::span<const std::byte> a, std::span<const std::byte> b);

// Returns the NUL-terminated text at `offset` of a string table; empty if there is none.
std::string_view StringAt(std::span<const std::byte> strings, uint64_t offset);

// Contents of .gnu_debuglink: name of the file with debug information, and its CRC-32.
struct DebugLink {
  std::string_view file;
  uint32_t crc = 0;
};
std::optional<DebugLink> ReadDebugLink(const ElfImage& image);

}  // namespace profiler::symbolize

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
  // Size in memory, in bytes. `contents` is shorter for SHT_NOBITS, in a truncated file, and if
  // is_cut is true.
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
  std::span<const std::byte> contents;
  bool is_cut = false;  // true if `contents` ends early, at a hole of the file

  bool Holds(ElfAddress a) const { return a >= address && a.value - address.value < size; }
};

// The tables of one ELF file. A view: the bytes must outlive it. Immutable, so thread-safe.
class ElfImage {
 public:
  // Reads the tables of an ELF file. `holes` are the file's holes. The contents of a section or
  // note end at the first hole in them, but BytesAt returns holes as zeros. If the file has the
  // other byte order, only symbols and build-id can be read; other sections have no contents.
  // Errors: kDataLoss if `bytes` are no ELF file, or if a header or table lies outside of `bytes`.
  static absl::StatusOr<ElfImage> Parse(std::span<const std::byte> bytes,
                                        std::span<const FileHole> holes = {});

  std::span<const std::byte> bytes() const { return bytes_; }
  // Returns the number of the file's bytes that are outside of holes.
  uint64_t solid_size() const { return solid_size_; }
  bool is_64_bit() const { return is_64_bit_; }
  uint16_t type() const { return type_; }        // ET_…
  uint16_t machine() const { return machine_; }  // EM_…
  ElfAddress entry() const { return entry_; }    // address at which a program starts

  std::span<const ElfSegment> segments() const { return segments_; }
  // Returns all sections, in the order of the file. Number 0 is the null section.
  std::span<const ElfSection> sections() const { return sections_; }
  // Return the first section of the given name or type; null if there is none.
  const ElfSection* FindSection(std::string_view name) const;
  const ElfSection* FindSectionOfType(uint32_t type) const;
  const ElfSection* section(size_t index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }

  // Returns the bytes of the build-id, from the NT_GNU_BUILD_ID note. Empty if there is none.
  std::span<const std::byte> build_id() const { return build_id_; }

  // Returns the memory address of the byte at `offset`; empty if no segment has the byte. The
  // kernel maps whole pages, so a segment also has all bytes of its first and last page. Prefers
  // segments that contain the byte itself; among them, executable segments.
  std::optional<ElfAddress> AddressOf(FileOffset offset) const;
  std::optional<FileOffset> OffsetOf(ElfAddress address) const;

  // Returns the contents at `address`: `size` bytes, or fewer if the file has fewer there.
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

// Returns DIRECTORY/.build-id/ab/cdef…, the path of the file with build-id abcdef…, or of a
// directory with its files. Empty if the build-id has less than two bytes.
std::string BuildIdPath(std::string_view directory, std::span<const std::byte> build_id);

// Returns true if `a` and `b` are the same build-id. Ignores zeros at the end, because perf.data
// pads build-ids to 20 bytes.
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

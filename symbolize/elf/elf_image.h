// One ELF file as a table of checked views: segments, sections, build-id. libelf reads the headers;
// nothing is copied but the two tables, so that threads can share them, which a handle of libelf's
// does not allow. No byte is read outside the file, whatever its headers say.
//
// Source: System V ABI, chapters 4 and 5; <elf.h>. 32 and 64 bit, in the byte order of this
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
  // In memory; `contents` is shorter for SHT_NOBITS, in a truncated file, and where it is_cut.
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
  std::span<const std::byte> contents;
  bool is_cut = false;  // the file has a hole there, where `contents` ends

  bool Holds(ElfAddress a) const { return a >= address && a.value - address.value < size; }
};

// A view: the bytes must outlive it. Immutable, so safe to share between threads.
class ElfImage {
 public:
  // Errors: kDataLoss for what is no ELF file, or whose header or tables lie outside of it. An
  // image of the other byte order has its symbols and its build-id; its other sections are empty.
  // Of sections and notes nothing is taken that lies behind the first one of `holes` in them. The
  // data of a program may have holes, and BytesAt finds them as the zeros that they stand for.
  static absl::StatusOr<ElfImage> Parse(std::span<const std::byte> bytes,
                                        std::span<const FileHole> holes = {});

  std::span<const std::byte> bytes() const { return bytes_; }
  // Of the bytes, how many are in no hole.
  uint64_t solid_size() const { return solid_size_; }
  bool is_64_bit() const { return is_64_bit_; }
  uint16_t type() const { return type_; }        // ET_…
  uint16_t machine() const { return machine_; }  // EM_…
  ElfAddress entry() const { return entry_; }    // where a program starts

  std::span<const ElfSegment> segments() const { return segments_; }
  // With their indices in the file; 0 is the null section.
  std::span<const ElfSection> sections() const { return sections_; }
  // The first of that name, null where there is none.
  const ElfSection* FindSection(std::string_view name) const;
  const ElfSection* FindSectionOfType(uint32_t type) const;
  const ElfSection* section(size_t index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }

  // The descriptor of the NT_GNU_BUILD_ID note; empty where there is none.
  std::span<const std::byte> build_id() const { return build_id_; }

  // Where the byte at `offset` is in memory, by the segment that holds it, an executable one before
  // others. The kernel maps whole pages, so an offset in the rest of a segment's first or last page
  // belongs to it as well. Empty when no segment holds it.
  std::optional<ElfAddress> AddressOf(FileOffset offset) const;
  std::optional<FileOffset> OffsetOf(ElfAddress address) const;

  // At most `size` bytes of memory from `address` that are in the file.
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

// DIRECTORY/.build-id/ab/cdef…: where files, or directories of them, lie by build-id. Empty for one
// of less than two bytes.
std::string BuildIdPath(std::string_view directory, std::span<const std::byte> build_id);

// Whether two build-ids are one. Zeroes at the end do not count: perf.data pads to 20 bytes.
bool SameBuildId(std::span<const std::byte> a, std::span<const std::byte> b);

// The NUL-terminated text at `offset` of a string table; empty where there is none.
std::string_view StringAt(std::span<const std::byte> strings, uint64_t offset);

// What .gnu_debuglink says: the name of the file with the debug information, and its CRC-32.
struct DebugLink {
  std::string_view file;
  uint32_t crc = 0;
};
std::optional<DebugLink> ReadDebugLink(const ElfImage& image);

}  // namespace profiler::symbolize

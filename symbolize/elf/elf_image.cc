#include "symbolize/elf/elf_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "src/base/build_id.h"
#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"

namespace profiler::symbolize {
namespace {

// Largest number of segments that are read. No linker writes so many.
constexpr size_t kMaxSegments = 1 << 16;
constexpr uint64_t kMaxSectionName = 256;
// Function descriptors of the first 64-bit PowerPC ABI (elf_symbols.cc).
constexpr std::string_view kFunctionDescriptors = ".opd";

// Returns the part of [offset, offset + size) that lies in the file.
std::span<const std::byte> Clip(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

std::span<const std::byte> WithoutTrailingZeroes(std::span<const std::byte> id) {
  while (!id.empty() && id.back() == std::byte{0}) id = id.first(id.size() - 1);
  return id;
}

}  // namespace

bool SameBuildId(std::span<const std::byte> a, std::span<const std::byte> b) {
  a = WithoutTrailingZeroes(a);
  b = WithoutTrailingZeroes(b);
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string_view StringAt(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  ByteReader reader(strings.subspan(offset));
  return reader.ReadCString();
}

struct ElfImage::Reader {
  Elf* elf;
  std::span<const FileHole> holes;
  ElfImage image;
  // Bytes of notes that may still be read. Notes of a valid file are no larger than the file, and
  // are read twice: as sections and as segments.
  uint64_t notes_left;
  bool is_swapped;  // true if the file's byte order is not this machine's

  // Returns true if the contents can be used. libelf converts symbols to native byte order. All
  // other sections are read unconverted, so they are dropped if the file has the other byte order.
  bool HasReadableContents(const ElfSection& section) const {
    if (!is_swapped) return true;
    return section.type == SHT_SYMTAB || section.type == SHT_DYNSYM || section.type == SHT_STRTAB ||
           section.name == kFunctionDescriptors;
  }

  void ReadSections() {
    size_t count = 0;
    elf_getshdrnum(elf, &count);
    const std::span<const std::byte> names = SectionNames();
    image.sections_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      GElf_Shdr header;
      if (gelf_getshdr(elf_getscn(elf, i), &header) == nullptr) return;
      ElfSection& section = image.sections_.emplace_back();
      // Limits the length of names. Otherwise finding the NUL of each name could scan the whole
      // file, and a corrupt file may have many sections.
      section.name = StringAt(Clip(names, header.sh_name, kMaxSectionName), 0);
      section.type = header.sh_type;
      section.flags = header.sh_flags;
      section.address = {header.sh_addr};
      section.offset = {header.sh_offset};
      section.size = header.sh_size;
      section.link = header.sh_link;
      section.info = header.sh_info;
      section.entry_size = header.sh_entsize;
      if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL) {
        const auto claimed = Clip(image.bytes_, header.sh_offset, header.sh_size);
        section.contents = WithoutHoles(claimed);
        section.is_cut = section.contents.size() != claimed.size();
      }
      if (header.sh_type == SHT_NOTE) LookForId(section.contents, header.sh_addralign);
      if (!HasReadableContents(section)) section.contents = {};
    }
  }

  std::span<const std::byte> SectionNames() const {
    size_t index = 0;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &index) != 0) return {};
    if (gelf_getshdr(elf_getscn(elf, index), &header) == nullptr) return {};
    return WithoutHoles(Clip(image.bytes_, header.sh_offset, header.sh_size));
  }

  // Returns the part of `bytes` in front of the first hole in it.
  std::span<const std::byte> WithoutHoles(std::span<const std::byte> bytes) const {
    if (bytes.empty()) return bytes;
    const auto offset = static_cast<uint64_t>(bytes.data() - image.bytes_.data());
    const auto hole = std::partition_point(
        holes.begin(), holes.end(), [&](const FileHole& h) { return h.offset + h.size <= offset; });
    if (hole == holes.end()) return bytes;
    const uint64_t solid = hole->offset - std::min(hole->offset, offset);
    return bytes.first(std::min<uint64_t>(bytes.size(), solid));
  }

  void ReadSegments() {
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    count = std::min(count, kMaxSegments);
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) return;
      if (header.p_type == PT_LOAD) {
        ElfSegment& segment = image.segments_.emplace_back();
        segment.offset = {header.p_offset};
        segment.address = {header.p_vaddr};
        segment.file_size = header.p_filesz;
        segment.memory_size = header.p_memsz;
        segment.executable = (header.p_flags & PF_X) != 0;
      } else if (header.p_type == PT_NOTE) {
        LookForId(WithoutHoles(Clip(image.bytes_, header.p_offset, header.p_filesz)),
                  header.p_align);
      }
    }
  }

  void LookForId(std::span<const std::byte> notes, uint64_t alignment) {
    if (!image.build_id_.empty() || notes.size() > notes_left) return;
    notes_left -= notes.size();
    image.build_id_ =
        is_swapped ? BuildIdInSwappedNotes(notes, alignment) : BuildIdInNotes(notes, alignment);
  }

  // Applies BuildIdInNotes to a copy of the notes whose headers are byte-swapped.
  static std::span<const std::byte> BuildIdInSwappedNotes(std::span<const std::byte> notes,
                                                          uint64_t alignment) {
    std::vector<std::byte> turned(notes.begin(), notes.end());
    const uint64_t mask = (alignment == 8 ? 8 : 4) - 1;
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= turned.size();) {
      Elf64_Nhdr header;
      std::memcpy(&header, &turned[at], sizeof(header));
      for (Elf64_Word* word : {&header.n_namesz, &header.n_descsz, &header.n_type}) {
        *word = __builtin_bswap32(*word);
      }
      std::memcpy(&turned[at], &header, sizeof(header));
      at +=
          sizeof(header) + ((header.n_namesz + mask) & ~mask) + ((header.n_descsz + mask) & ~mask);
    }
    const std::span<const std::byte> id = BuildIdInNotes(turned, alignment);
    if (id.empty()) return {};
    return notes.subspan(static_cast<size_t>(id.data() - turned.data()), id.size());
  }

  // Prefers .note.gnu.build-id to other notes of the same type.
  void FindId() {
    const ElfSection* section = image.FindSection(".note.gnu.build-id");
    if (section == nullptr || is_swapped) return;
    const auto id = BuildIdInNotes(section->contents, 4);
    if (!id.empty()) image.build_id_ = id;
  }
};

absl::StatusOr<ElfImage> ElfImage::Parse(std::span<const std::byte> bytes,
                                         std::span<const FileHole> holes) {
  constexpr int kNative = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  const LibelfFile file(bytes);
  GElf_Ehdr header;
  if (gelf_getehdr(file.get(), &header) == nullptr) {
    return absl::DataLossError("not an ELF file, or cut off in its header");
  }
  uint64_t solid = bytes.size();
  for (const FileHole& hole : holes) solid -= std::min(solid, hole.size);
  Reader reader{file.get(), holes, {}, 2 * solid, header.e_ident[EI_DATA] != kNative};
  ElfImage& image = reader.image;
  image.bytes_ = bytes;
  image.solid_size_ = solid;
  image.is_64_bit_ = header.e_ident[EI_CLASS] == ELFCLASS64;
  image.type_ = header.e_type;
  image.machine_ = header.e_machine;
  image.entry_ = {header.e_entry};
  if (header.e_shoff != 0) reader.ReadSections();
  reader.ReadSegments();
  reader.FindId();
  return std::move(image);
}

const ElfSection* ElfImage::FindSection(std::string_view name) const {
  const auto it = std::find_if(sections_.begin(), sections_.end(),
                               [name](const ElfSection& s) { return s.name == name; });
  return it == sections_.end() ? nullptr : &*it;
}

const ElfSection* ElfImage::FindSectionOfType(uint32_t type) const {
  const auto it = std::find_if(sections_.begin(), sections_.end(),
                               [type](const ElfSection& s) { return s.type == type; });
  return it == sections_.end() ? nullptr : &*it;
}

std::optional<ElfAddress> ElfImage::AddressOf(FileOffset offset) const {
  const ElfSegment* best = nullptr;
  int best_rank = 0;
  for (const ElfSegment& segment : segments_) {
    const uint64_t page_start = segment.offset.value & ~(kPage - 1);
    const uint64_t end = segment.offset.value + segment.file_size;
    if (end < segment.offset.value || offset.value < page_start) continue;
    const bool inside = offset >= segment.offset && offset.value < end;
    const bool in_page = offset.value < ((end + kPage - 1) & ~(kPage - 1));
    const int rank = (inside ? 4 : in_page ? 2 : 0) + (segment.executable ? 1 : 0);
    if (rank >= 2 && rank > best_rank) {
      best = &segment;
      best_rank = rank;
    }
  }
  if (best == nullptr) return std::nullopt;
  return ElfAddress{offset.value - best->offset.value + best->address.value};
}

std::optional<FileOffset> ElfImage::OffsetOf(ElfAddress address) const {
  for (const ElfSegment& segment : segments_) {
    if (address < segment.address) continue;
    const uint64_t distance = address.value - segment.address.value;
    if (distance < segment.file_size) return FileOffset{segment.offset.value + distance};
  }
  return std::nullopt;
}

std::span<const std::byte> ElfImage::BytesAt(ElfAddress address, size_t size) const {
  for (const ElfSegment& segment : segments_) {
    if (address < segment.address) continue;
    const uint64_t distance = address.value - segment.address.value;
    if (distance >= segment.file_size) continue;
    const auto contents = Clip(bytes_, segment.offset.value, segment.file_size);
    return Clip(contents, distance, size);
  }
  return {};
}

std::optional<DebugLink> ReadDebugLink(const ElfImage& image) {
  const ElfSection* section = image.FindSection(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  // Name, NUL, padding to a multiple of four, CRC.
  ByteReader reader(section->contents);
  DebugLink link;
  link.file = reader.ReadCString();
  reader.Skip((4 - reader.offset() % 4) % 4);
  link.crc = reader.Read<uint32_t>();
  if (!reader.ok() || link.file.empty() || link.file.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  return link;
}

std::string BuildIdPath(std::string_view directory, std::span<const std::byte> build_id) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (build_id.size() < 2) return {};
  std::string path(directory);
  path += "/.build-id/";
  for (size_t i = 0; i < build_id.size(); ++i) {
    if (i == 1) path += '/';
    path.push_back(kDigits[std::to_integer<unsigned>(build_id[i]) >> 4]);
    path.push_back(kDigits[std::to_integer<unsigned>(build_id[i]) & 15]);
  }
  return path;
}

}  // namespace profiler::symbolize

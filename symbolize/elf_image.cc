#include "symbolize/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "src/base/build_id.h"
#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

// More than any linker writes; what claims more is corrupt.
constexpr uint64_t kMaxSegments = 1 << 16;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxSectionName = 256;

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
};

// The part of [offset, offset + size) that is in the file.
std::span<const std::byte> Clip(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

std::span<const std::byte> WithoutTrailingZeroes(std::span<const std::byte> id) {
  while (!id.empty() && id.back() == std::byte{0}) id = id.first(id.size() - 1);
  return id;
}

}  // namespace

// A note is {namesz, descsz, type} of 32 bits each, then name and descriptor, each padded to the
// alignment of the section or segment that it is in (4, or 8 where the linker says so).
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
  ElfImage image;

  template <class T>
  std::optional<T> At(uint64_t offset) const {
    const auto bytes = Clip(image.bytes_, offset, sizeof(T));
    if (bytes.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  template <class Elf>
  absl::Status ReadAll() {
    const auto header = At<typename Elf::Header>(0);
    if (!header) return absl::DataLossError("ELF header cut off");
    image.type_ = header->e_type;
    image.machine_ = header->e_machine;
    ReadSections<Elf>(*header);
    ReadSegments<Elf>(*header);
    FindId();
    return absl::OkStatus();
  }

  // Counts that do not fit the header are in the null section: sh_size has e_shnum, sh_link
  // e_shstrndx and sh_info e_phnum.
  template <class Elf>
  void ReadSections(const typename Elf::Header& header) {
    using Section = typename Elf::Section;
    if (header.e_shoff == 0 || header.e_shentsize < sizeof(Section)) return;
    const auto first = At<Section>(header.e_shoff);
    if (!first) return;
    const uint64_t claimed = header.e_shnum != 0 ? header.e_shnum : first->sh_size;
    const uint64_t room = (image.bytes_.size() - header.e_shoff) / header.e_shentsize;
    const uint64_t count = std::min(claimed, room);
    const uint64_t names_index =
        header.e_shstrndx == SHN_XINDEX ? first->sh_link : header.e_shstrndx;
    std::span<const std::byte> names;
    if (names_index < count) {
      if (const auto s = At<Section>(header.e_shoff + names_index * header.e_shentsize)) {
        names = Clip(image.bytes_, s->sh_offset, s->sh_size);
      }
    }
    image.sections_.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const auto s = At<Section>(header.e_shoff + i * header.e_shentsize);
      if (!s) return;
      ElfSection& section = image.sections_.emplace_back();
      // Bounded, or many sections of a corrupt file would each scan all of it for a NUL.
      section.name = StringAt(Clip(names, s->sh_name, kMaxSectionName), 0);
      section.type = s->sh_type;
      section.flags = s->sh_flags;
      section.address = {s->sh_addr};
      section.offset = {s->sh_offset};
      section.size = s->sh_size;
      section.link = s->sh_link;
      section.info = s->sh_info;
      section.entry_size = s->sh_entsize;
      if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL) {
        section.contents = Clip(image.bytes_, s->sh_offset, s->sh_size);
      }
      if (s->sh_type == SHT_NOTE && image.build_id_.empty()) {
        image.build_id_ = BuildIdInNotes(section.contents, s->sh_addralign);
      }
    }
  }

  template <class Elf>
  void ReadSegments(const typename Elf::Header& header) {
    using Segment = typename Elf::Segment;
    if (header.e_phoff == 0 || header.e_phentsize < sizeof(Segment)) return;
    uint64_t count = header.e_phnum;
    if (count == PN_XNUM && !image.sections_.empty()) count = image.sections_[0].info;
    count = std::min(count, kMaxSegments);
    for (uint64_t i = 0; i < count; ++i) {
      const auto s = At<Segment>(header.e_phoff + i * header.e_phentsize);
      if (!s) return;
      if (s->p_type == PT_LOAD) {
        ElfSegment& segment = image.segments_.emplace_back();
        segment.offset = {s->p_offset};
        segment.address = {s->p_vaddr};
        segment.file_size = s->p_filesz;
        segment.memory_size = s->p_memsz;
        segment.executable = (s->p_flags & PF_X) != 0;
      } else if (s->p_type == PT_NOTE && image.build_id_.empty()) {
        image.build_id_ = BuildIdInNotes(Clip(image.bytes_, s->p_offset, s->p_filesz), s->p_align);
      }
    }
  }

  // .note.gnu.build-id goes before whatever note came first with the same type.
  void FindId() {
    const ElfSection* section = image.FindSection(".note.gnu.build-id");
    if (section == nullptr) return;
    const auto id = BuildIdInNotes(section->contents, 4);
    if (!id.empty()) image.build_id_ = id;
  }
};

absl::StatusOr<ElfImage> ElfImage::Parse(std::span<const std::byte> bytes) {
  if (bytes.size() < EI_NIDENT || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return absl::DataLossError("not an ELF file");
  }
  const auto ident = [bytes](size_t i) { return std::to_integer<int>(bytes[i]); };
  constexpr int kNative = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident(EI_DATA) != kNative) {
    return absl::UnimplementedError("ELF file of the other byte order");
  }
  Reader reader;
  reader.image.bytes_ = bytes;
  reader.image.is_64_bit_ = ident(EI_CLASS) == ELFCLASS64;
  if (!reader.image.is_64_bit_ && ident(EI_CLASS) != ELFCLASS32) {
    return absl::DataLossError("unknown ELF class");
  }
  PROFILER_RETURN_IF_ERROR(reader.image.is_64_bit_ ? reader.ReadAll<Elf64>()
                                                   : reader.ReadAll<Elf32>());
  return std::move(reader.image);
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
  // The name, NUL, padding to a multiple of four, then the CRC.
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

#include "symbolize/dwarf/libdw_sections.h"

#include <elf.h>
#include <libelf.h>

#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace profiler::symbolize::dwarf {
namespace {

// Number of sections that libdw reads: all except the last one, kCuIndex.
constexpr size_t kSectionsOfLibdw = kSectionCount - 1;

template <class Header, class SectionHeader>
std::string MakeImage(unsigned char elf_class) {
  std::string names(1, '\0');
  SectionHeader sections[kSectionsOfLibdw + 2] = {};
  const auto add = [&](size_t index, std::string_view name, uint32_t type) {
    sections[index].sh_name = static_cast<uint32_t>(names.size());
    sections[index].sh_type = type;
    sections[index].sh_offset = sizeof(Header) + sizeof(sections);
    sections[index].sh_size = 1;  // Replace changes the size
    names.append(name).push_back('\0');
  };
  for (size_t i = 0; i < kSectionsOfLibdw; ++i) {
    add(i + 1, ".debug_" + std::string(SectionSuffix(static_cast<SectionId>(i))), SHT_PROGBITS);
  }
  add(kSectionsOfLibdw + 1, ".shstrtab", SHT_STRTAB);
  sections[kSectionsOfLibdw + 1].sh_size = static_cast<decltype(sections->sh_size)>(names.size());

  Header header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Header);
  header.e_shoff = sizeof(Header);
  header.e_shentsize = sizeof(SectionHeader);
  header.e_shnum = kSectionsOfLibdw + 2;
  header.e_shstrndx = kSectionsOfLibdw + 1;
  std::string image(reinterpret_cast<const char*>(&header), sizeof(header));
  image.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  return image += names;
}

// Returns the ELF image whose sections Replace fills. All handles share the image, because libelf
// only reads it, and Replace gives each handle its own section contents.
std::string& ImageFor(unsigned address_size) {
  static std::string image32 = MakeImage<Elf32_Ehdr, Elf32_Shdr>(ELFCLASS32);
  static std::string image64 = MakeImage<Elf64_Ehdr, Elf64_Shdr>(ELFCLASS64);
  return address_size == 4 ? image32 : image64;
}

// Replaces the contents of a section. Sets both libelf buffers, because libdw's version decides
// which of them it reads.
bool Replace(Elf_Scn* section, Bytes bytes) {
  for (Elf_Data* data : {elf_rawdata(section, nullptr), elf_getdata(section, nullptr)}) {
    if (data == nullptr) return false;
    data->d_buf = const_cast<std::byte*>(bytes.data());
    data->d_size = bytes.size();
  }
  return true;
}

}  // namespace

std::optional<LibdwSections> LibdwSections::Open(const SectionViews& sections,
                                                 unsigned address_size) {
  elf_version(EV_CURRENT);
  LibdwSections opened;
  std::string& image = ImageFor(address_size);
  opened.elf_ = elf_memory(image.data(), image.size());
  for (size_t i = 0; i < kSectionsOfLibdw; ++i) {
    const Bytes bytes = sections[static_cast<SectionId>(i)];
    if (!Replace(elf_getscn(opened.elf_, i + 1), bytes)) return std::nullopt;
  }
  opened.dwarf_ = dwarf_begin_elf(opened.elf_, DWARF_C_READ, nullptr);
  if (opened.dwarf_ == nullptr) return std::nullopt;
  return opened;
}

LibdwSections::LibdwSections(LibdwSections&& other) noexcept
    : elf_(std::exchange(other.elf_, nullptr)), dwarf_(std::exchange(other.dwarf_, nullptr)) {}

LibdwSections::~LibdwSections() {
  dwarf_end(dwarf_);
  elf_end(elf_);
}

}  // namespace profiler::symbolize::dwarf

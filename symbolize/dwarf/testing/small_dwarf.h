// Builds a small ELF file with debug information from parts, for tests that corrupt it.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace profiler::symbolize::dwarf {

// A writer of DWARF sections: appends their elements.
class DwarfBytes {
 public:
  template <class T>
  DwarfBytes& Add(T value) {
    static_assert(std::is_integral_v<T>);
    return AddText({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  DwarfBytes& U8(uint8_t value) { return Add(value); }
  DwarfBytes& U16(uint16_t value) { return Add(value); }
  DwarfBytes& U32(uint32_t value) { return Add(value); }
  DwarfBytes& U64(uint64_t value) { return Add(value); }
  DwarfBytes& Uleb(uint64_t value) {
    for (; value >= 0x80; value >>= 7) U8(static_cast<uint8_t>(value | 0x80));
    return U8(static_cast<uint8_t>(value));
  }
  DwarfBytes& String(std::string_view text) { return AddText(text).U8(0); }
  // Appends numbers below 128, such as abbreviations.
  DwarfBytes& List(std::initializer_list<uint16_t> values) {
    for (const uint16_t value : values) Uleb(value);
    return *this;
  }
  DwarfBytes& AddText(std::string_view text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), data, data + text.size());
    return *this;
  }
  DwarfBytes& AddBytes(const std::vector<std::byte>& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // Stores the number of all bytes after the first four in the first four bytes.
  std::vector<std::byte> WithLength() {
    const auto length = static_cast<uint32_t>(bytes_.size() - 4);
    std::memcpy(bytes_.data(), &length, 4);
    return bytes_;
  }
  std::vector<std::byte> bytes() const { return bytes_; }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

 private:
  std::vector<std::byte> bytes_;
};

using SectionBytes = std::map<std::string, std::vector<std::byte>>;

// Builds a shared object with code [0x1000, 0x2000) and these sections.
inline std::vector<std::byte> ElfWith(const SectionBytes& sections) {
  std::vector<std::byte> file(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
  std::vector<Elf64_Shdr> headers(1);
  std::string names(1, '\0');
  const auto add = [&](std::string_view name, uint32_t type, const std::vector<std::byte>& bytes) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = type;
    header.sh_offset = file.size();
    header.sh_size = bytes.size();
    names.append(name).push_back('\0');
    headers.push_back(header);
    file.insert(file.end(), bytes.begin(), bytes.end());
  };
  for (const auto& [name, bytes] : sections) add(name, SHT_PROGBITS, bytes);
  add(".shstrtab", SHT_STRTAB, {});
  headers.back().sh_size = names.size();
  const auto append = [&file](const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    file.insert(file.end(), bytes, bytes + size);
  };
  append(names.data(), names.size());
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  append(headers.data(), headers.size() * sizeof(Elf64_Shdr));
  const Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000};
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), &segment, sizeof(segment));
  return file;
}

// Abbreviation codes of SmallDwarf's entries.
inline constexpr uint8_t kUnitEntry = 1, kFunctionEntry = 2, kInlinedEntry = 3, kAbstractEntry = 4,
                         kListedEntry = 5, kInstanceEntry = 6, kClassEntry = 7,
                         kSkippableNamespaceEntry = 8, kNamespaceEntry = 9;

inline std::vector<std::byte> SmallAbbreviations() {
  DwarfBytes out;
  out.List({kUnitEntry, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x11, 0x01, 0x12, 0x06, 0x10, 0x17, 0, 0});
  out.List({kFunctionEntry, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0});
  out.List({kInlinedEntry, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b,
            0x57, 0x0b, 0, 0});
  out.List({kAbstractEntry, 0x2e, 0, 0x03, 0x08, 0, 0});
  out.List({kListedEntry, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0});
  out.List({kInstanceEntry, 0x2e, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0, 0});
  out.List({kClassEntry, 0x02, 1, 0, 0});
  out.List({kSkippableNamespaceEntry, 0x39, 1, 0x01, 0x13, 0, 0});
  out.List({kNamespaceEntry, 0x39, 1, 0, 0});
  return out.U8(0).bytes();
}

// Returns the header of a DWARF 4 unit and its root: a.cc, compiled in /src, code [0x1000, 0x1800).
inline DwarfBytes SmallUnit() {
  DwarfBytes out;
  out.U32(0).U16(4).U32(0).U8(8);
  out.U8(kUnitEntry).String("a.cc").String("/src").U64(0x1000).U32(0x800).U32(0);
  return out;
}

// Returns a unit with the function outer() at [0x1010, 0x1090). The function inner() is inlined
// into outer() at [0x1020, 0x1040); its call is in line 5, column 9.
inline std::vector<std::byte> SmallEntries() {
  DwarfBytes out = SmallUnit();
  const uint32_t inner = out.size();
  out.U8(kAbstractEntry).String("inner");
  out.U8(kFunctionEntry).String("outer").U64(0x1010).U32(0x80);
  out.U8(kInlinedEntry).U32(inner).U64(0x1020).U32(0x20).U8(1).U8(5).U8(9).U8(0);
  out.U8(0).U8(0);
  return out.WithLength();
}

// Returns a DWARF 4 line table: a.cc:4 at 0x1010, b.h:1 at 0x1020, a.cc:6 from 0x1040 to 0x1090.
inline std::vector<std::byte> SmallLines() {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0xfb).U8(14).U8(13);
  header.List({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  header.String("/include").U8(0);
  header.String("a.cc").List({0, 0, 0}).String("b.h").List({1, 0, 0}).U8(0);
  DwarfBytes out;
  out.U32(0).U16(4).U32(header.size());
  for (const std::byte b : header.bytes()) out.U8(static_cast<uint8_t>(b));
  out.U8(0).U8(9).U8(2).U64(0x1010);
  out.U8(3).U8(3).U8(1);                          // set line 4, add a row
  out.U8(2).U8(0x10).U8(4).U8(2).U8(3).U8(0x7d);  // set address 0x1020, file 2, line 1
  out.U8(5).U8(7).U8(1);                          // set column 7, add a row
  out.U8(2).U8(0x20).U8(4).U8(1).U8(3).U8(5).U8(1);
  out.U8(2).Uleb(0x50).U8(0).U8(1).U8(1);
  return out.WithLength();
}

inline SectionBytes SmallDwarf() {
  return {{".debug_abbrev", SmallAbbreviations()},
          {".debug_info", SmallEntries()},
          {".debug_line", SmallLines()}};
}

}  // namespace profiler::symbolize::dwarf

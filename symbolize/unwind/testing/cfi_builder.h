// Builds call frame information, and ELF files with it, byte by byte, for tests.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/elf/testing/elf_classes.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// A writer of bytes: appends numbers of fixed and of variable length.
class ByteBuilder {
 public:
  ByteBuilder() = default;
  ByteBuilder(std::initializer_list<int> bytes) {
    for (const int byte : bytes) U8(byte);
  }

  ByteBuilder& U8(int value) { return Append(static_cast<uint8_t>(value)); }
  ByteBuilder& U16(uint16_t value) { return Append(value); }
  ByteBuilder& U32(uint32_t value) { return Append(value); }
  ByteBuilder& U64(uint64_t value) { return Append(value); }
  ByteBuilder& Uleb(uint64_t value) {
    do {
      U8(static_cast<int>(value & 0x7f) | (value > 0x7f ? 0x80 : 0));
      value >>= 7;
    } while (value != 0);
    return *this;
  }
  ByteBuilder& Sleb(int64_t value) {
    for (;;) {
      const int low = static_cast<int>(value & 0x7f);
      value >>= 7;
      const bool is_last = (value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0);
      U8(low | (is_last ? 0 : 0x80));
      if (is_last) return *this;
    }
  }
  ByteBuilder& Text(std::string_view text) {
    for (const char c : text) U8(c);
    return U8(0);
  }
  ByteBuilder& Bytes(const ByteBuilder& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  // Appends the length of `other` and its bytes.
  ByteBuilder& Block(const ByteBuilder& other) { return Uleb(other.size()).Bytes(other); }
  ByteBuilder& Pad(size_t alignment, int value = 0) {
    while (size() % alignment != 0) U8(value);
    return *this;
  }
  void Patch32(size_t offset, uint32_t value) { std::memcpy(&bytes_[offset], &value, 4); }

  size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <class T>
  ByteBuilder& Append(T value) {
    const auto* data = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), data, data + sizeof(T));
    return *this;
  }

  std::vector<std::byte> bytes_;
};

struct CieSpec {
  std::string augmentation = "zR";
  int version = 1;
  uint64_t code_alignment = 1;
  int64_t data_alignment = -8;
  int return_address = 16;
  int address_size = 8;
  ByteBuilder instructions = {0x0c, 7, 8, 0x90, 1};  // CFA = rsp + 8; the return address at CFA − 8
};

inline CieSpec CieOfI386() {
  return {.data_alignment = -4,
          .return_address = 8,
          .address_size = 4,
          .instructions = {0x0c, 4, 4, 0x88, 1}};
}

struct FdeSpec {
  uint64_t start = 0x1000;
  uint64_t size = 0x100;
  ByteBuilder instructions;
};

// A builder of an .eh_frame with one CIE. Pointers are PC-relative in 4 bytes if the augmentation
// has 'R', else absolute.
class EhFrameBuilder {
 public:
  EhFrameBuilder(uint64_t address, const CieSpec& cie) : address_(address), cie_(cie) {
    ByteBuilder body;
    body.U32(0).U8(cie.version).Text(cie.augmentation);
    if (cie.version == 4) body.U8(cie.address_size).U8(0);
    body.Uleb(cie.code_alignment).Sleb(cie.data_alignment);
    if (cie.version == 1) {
      body.U8(cie.return_address);
    } else {
      body.Uleb(static_cast<uint64_t>(cie.return_address));
    }
    if (cie.augmentation.starts_with('z')) {
      ByteBuilder data;
      for (const char letter : cie.augmentation.substr(1)) {
        if (letter == 'R') data.U8(0x1b);
        if (letter == 'L') data.U8(0x1b);
        if (letter == 'P') data.U8(0x9b).U32(0x1234);
      }
      body.Block(data);
    }
    body.Bytes(cie.instructions).Pad(8);
    AppendEntry(body);
  }

  EhFrameBuilder& Add(const FdeSpec& fde) {
    offsets_.push_back(section_.size());
    starts_.push_back(fde.start);
    ByteBuilder body;
    const size_t here = section_.size() + 4;
    body.U32(static_cast<uint32_t>(here));  // back to the CIE, which is at offset 0
    if (cie_.augmentation.find('R') != std::string::npos) {
      body.U32(static_cast<uint32_t>(fde.start - (address_ + here + 4)));
      body.U32(static_cast<uint32_t>(fde.size));
    } else if (cie_.address_size == 4) {
      body.U32(static_cast<uint32_t>(fde.start)).U32(static_cast<uint32_t>(fde.size));
    } else {
      body.U64(fde.start).U64(fde.size);
    }
    if (cie_.augmentation.starts_with('z')) {
      ByteBuilder data;
      if (cie_.augmentation.find('L') != std::string::npos) data.U32(0);
      body.Block(data);
    }
    body.Bytes(fde.instructions).Pad(8);
    AppendEntry(body);
    return *this;
  }

  uint64_t address() const { return address_; }
  const ByteBuilder& section() const { return section_; }
  // Returns the offset of FDE number `fde` in the section.
  size_t offset(size_t fde) const { return offsets_[fde]; }

  // Returns an .eh_frame_hdr for memory address `address`. Its table is sorted if FDEs were added
  // in the order of their starts.
  ByteBuilder Header(uint64_t address) const {
    ByteBuilder header{1, 0x1b, 0x03, 0x3b};
    header.U32(static_cast<uint32_t>(address_ - (address + 4)));
    header.U32(static_cast<uint32_t>(starts_.size()));
    for (size_t i = 0; i < starts_.size(); ++i) {
      header.U32(static_cast<uint32_t>(starts_[i] - address));
      header.U32(static_cast<uint32_t>(address_ + offsets_[i] - address));
    }
    return header;
  }

 private:
  void AppendEntry(const ByteBuilder& body) {
    section_.U32(static_cast<uint32_t>(body.size())).Bytes(body);
  }

  uint64_t address_;
  CieSpec cie_;
  ByteBuilder section_;
  std::vector<size_t> offsets_;
  std::vector<uint64_t> starts_;
};

// Builds a .debug_frame with one CIE (version 4) and its FDEs.
inline ByteBuilder DebugFrame(const ByteBuilder& common_instructions,
                              const std::vector<FdeSpec>& functions) {
  ByteBuilder cie;
  cie.U32(0xffffffff).U8(4).Text("").U8(8).U8(0).Uleb(1).Sleb(-8).Uleb(16);
  cie.Bytes(common_instructions).Pad(8);
  ByteBuilder section;
  section.U32(static_cast<uint32_t>(cie.size())).Bytes(cie);
  for (const FdeSpec& function : functions) {
    ByteBuilder fde;
    fde.U32(0).U64(function.start).U64(function.size).Bytes(function.instructions).Pad(8);
    section.U32(static_cast<uint32_t>(fde.size())).Bytes(fde);
  }
  return section;
}

// A builder of an ELF file with sections and segment headers. The contents of segments need not
// exist. The file has 32 bits for i386, else 64.
class ElfBuilder {
 public:
  explicit ElfBuilder(uint16_t machine = EM_X86_64) : machine_(machine) {}

  ElfBuilder& Type(uint16_t type) {
    type_ = type;
    return *this;
  }
  ElfBuilder& Entry(uint64_t address) {
    entry_ = address;
    return *this;
  }
  ElfBuilder& Section(const std::string& name, uint64_t address, const ByteBuilder& contents,
                      uint64_t flags = SHF_ALLOC, uint32_t type = SHT_PROGBITS) {
    sections_.push_back({name, address, contents, flags, type});
    return *this;
  }

  // A PT_LOAD; `flags` are PF_….
  ElfBuilder& Segment(uint64_t offset, uint64_t address, uint64_t size, uint32_t flags) {
    segments_.push_back({offset, address, size, flags});
    return *this;
  }

  std::vector<std::byte> Build() const {
    return machine_ == EM_386 ? BuildAs<Elf32Types>() : BuildAs<Elf64Types>();
  }

 private:
  struct Part {
    std::string name;
    uint64_t address;
    ByteBuilder contents;
    uint64_t flags;
    uint32_t type;
  };
  struct Load {
    uint64_t offset, address, size;
    uint32_t flags;
  };

  // Sets a header field, whose type depends on the ELF class.
  template <class T>
  static void Set(T& field, uint64_t value) {
    field = static_cast<T>(value);
  }

  template <class Elf>
  std::vector<std::byte> BuildAs() const {
    ByteBuilder names{0};
    ByteBuilder contents;
    std::vector<typename Elf::Shdr> headers(1);
    const auto add = [&](uint32_t type, const std::string& name, size_t size) {
      auto& header = headers.emplace_back();
      Set(header.sh_name, names.size());
      Set(header.sh_type, type);
      Set(header.sh_offset, sizeof(typename Elf::Ehdr) + contents.size());
      names.Text(name);
      Set(header.sh_size, size);
    };
    for (const Part& part : sections_) {
      contents.Pad(8);
      add(part.type, part.name, part.contents.size());
      Set(headers.back().sh_flags, part.flags);
      Set(headers.back().sh_addr, part.address);
      contents.Bytes(part.contents);
    }
    add(SHT_STRTAB, ".shstrtab", 0);
    Set(headers.back().sh_size, names.size());
    contents.Bytes(names).Pad(8);

    std::vector<typename Elf::Phdr> loads(segments_.size());
    for (size_t i = 0; i < segments_.size(); ++i) {
      Set(loads[i].p_type, PT_LOAD);
      Set(loads[i].p_flags, segments_[i].flags);
      Set(loads[i].p_offset, segments_[i].offset);
      Set(loads[i].p_vaddr, segments_[i].address);
      Set(loads[i].p_paddr, segments_[i].address);
      Set(loads[i].p_filesz, segments_[i].size);
      Set(loads[i].p_memsz, segments_[i].size);
      Set(loads[i].p_align, 4096);
    }

    typename Elf::Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = Elf::kClass;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = type_;
    header.e_machine = machine_;
    Set(header.e_entry, entry_);
    Set(header.e_shoff, sizeof(header) + contents.size());
    Set(header.e_phoff, header.e_shoff + headers.size() * sizeof(headers[0]));
    Set(header.e_phentsize, sizeof(typename Elf::Phdr));
    Set(header.e_phnum, loads.size());
    Set(header.e_ehsize, sizeof(header));
    Set(header.e_shentsize, sizeof(typename Elf::Shdr));
    Set(header.e_shnum, headers.size());
    Set(header.e_shstrndx, headers.size() - 1);

    std::vector<std::byte> file(header.e_phoff + loads.size() * sizeof(typename Elf::Phdr));
    std::memcpy(file.data(), &header, sizeof(header));
    std::memcpy(file.data() + sizeof(header), contents.bytes().data(), contents.size());
    std::memcpy(file.data() + header.e_shoff, headers.data(), headers.size() * sizeof(headers[0]));
    if (!loads.empty()) {
      std::memcpy(file.data() + header.e_phoff, loads.data(), loads.size() * sizeof(loads[0]));
    }
    return file;
  }

  uint16_t machine_;
  uint16_t type_ = ET_DYN;
  uint64_t entry_ = 0;
  std::vector<Part> sections_;
  std::vector<Load> segments_;
};

}  // namespace profiler::symbolize

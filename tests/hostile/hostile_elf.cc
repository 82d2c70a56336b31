#include "tests/hostile/hostile_elf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "gtest/gtest.h"
#include "src/base/unique_fd.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::tests {
namespace {

constexpr size_t kDepthAt = 1, kCallAt = 0xb, kAfterCall = 0xf;

constexpr unsigned char kInstructions[] = {
    0xbe, 0x00, 0x00, 0x00, 0x00,  // 1000 mov $depth,%esi
    0xbf, 0x00, 0x00, 0x10, 0x00,  // 1005 mov $0x100000,%edi
    0xe8, 0x31, 0x00, 0x00, 0x00,  // 100a call 1040
    0xeb, 0xef,                    // 100f jmp 1000
};
constexpr unsigned char kRecursion[] = {
    0x85, 0xf6,                    // 1040 test %esi,%esi
    0x74, 0x0c,                    // 1042 je 1050
    0xff, 0xce,                    // 1044 dec %esi
    0xe8, 0xf5, 0xff, 0xff, 0xff,  // 1046 call 1040
    0xc3,                          // 104b ret
    0x90, 0x90, 0x90, 0x90,        // 104c
    0x48, 0xff, 0xcf,              // 1050 dec %rdi
    0x75, 0xfb,                    // 1053 jne 1050
    0xc3,                          // 1055 ret
};

template <class T>
void Append(std::vector<std::byte>* to, const T& value) {
  const size_t size = to->size();
  to->resize(size + sizeof(value));
  std::memcpy(to->data() + size, &value, sizeof(value));
}

void WriteAt(int fd, uint64_t offset, const void* data, size_t size) {
  ASSERT_EQ(pwrite(fd, data, size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
}

}  // namespace

std::vector<std::byte> BytesOf(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

HostileElf::HostileElf() : code_(kEnd - kCode, std::byte{0x90}) {
  std::memcpy(code_.data(), kInstructions, sizeof(kInstructions));
  std::memcpy(code_.data() + (kDescend - kCode), kRecursion, sizeof(kRecursion));
}

HostileElf& HostileElf::Depth(uint32_t depth) {
  std::memcpy(code_.data() + kDepthAt, &depth, sizeof(depth));
  return *this;
}

HostileElf& HostileElf::Stairs() {
  const auto put = [&](size_t at, uint64_t target, size_t after) {
    const auto distance = static_cast<int32_t>(target - (kCode + after));
    std::memcpy(code_.data() + at, &distance, sizeof(distance));
  };
  put(kCallAt, kStairs, kAfterCall);
  // Size of a step of the stairs in bytes. A step is a call of the next step and a return
  // (e8 01 00 00 00 c3). The last step jumps to Descend.
  constexpr size_t kStep = 6;
  size_t at = kStairs - kCode;
  for (; at + 2 * kStep < code_.size(); at += kStep) {
    code_[at] = std::byte{0xe8};
    put(at + 1, kCode + at + kStep, at + 5);
    code_[at + 5] = std::byte{0xc3};
  }
  code_[at] = std::byte{0xe9};
  put(at + 1, kDescend, at + 5);
  return *this;
}

HostileElf& HostileElf::Add(HostileSection section) {
  const uint64_t offset = next_;
  next_ = (offset + section.bytes.size() + section.hole + 15) & ~uint64_t{15};
  sections_.push_back({std::move(section), offset});
  return *this;
}

HostileElf& HostileElf::AddSymbols() {
  std::vector<std::byte> symbols(sizeof(Elf64_Sym));
  std::string names(1, '\0');
  const auto add = [&](const char* name, uint64_t address, uint64_t size) {
    Append(&symbols, Elf64_Sym{.st_name = static_cast<Elf64_Word>(names.size()),
                               .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                               .st_other = 0,
                               .st_shndx = 1,
                               .st_value = address,
                               .st_size = size});
    names.append(name).push_back('\0');
  };
  add("evil_enter", kCode, kEnterSize);
  add("evil_descend", kDescend, kSpin - kDescend);
  add("evil_spin", kSpin, 0x10);
  Add({.name = ".symtab",
       .bytes = std::move(symbols),
       .type = SHT_SYMTAB,
       .link = next_index() + 1,
       .entry_size = sizeof(Elf64_Sym)});
  return Add({.name = ".strtab", .bytes = BytesOf(names), .type = SHT_STRTAB});
}

HostileElf& HostileElf::AddSymbolsNamed(const std::vector<std::string>& names, uint32_t type) {
  std::vector<std::byte> symbols(sizeof(Elf64_Sym));
  std::string strings(1, '\0');
  for (const std::string& name : names) {
    Append(&symbols, Elf64_Sym{.st_name = static_cast<Elf64_Word>(strings.size()),
                               .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                               .st_other = 0,
                               .st_shndx = 1,
                               .st_value = 0,
                               .st_size = uint64_t{1} << 40});
    strings.append(name).push_back('\0');
  }
  const bool is_dynamic = type == SHT_DYNSYM;
  Add({.name = is_dynamic ? ".dynsym" : ".symtab",
       .bytes = std::move(symbols),
       .type = type,
       .flags = is_dynamic ? uint64_t{SHF_ALLOC} : 0,
       .link = next_index() + 1,
       .entry_size = sizeof(Elf64_Sym)});
  return Add(
      {.name = is_dynamic ? ".dynstr" : ".strtab", .bytes = BytesOf(strings), .type = SHT_STRTAB});
}

HostileElf& HostileElf::AddBuildId(std::span<const std::byte> id) {
  std::vector<std::byte> note;
  Append(&note, Elf64_Nhdr{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID});
  for (const char c : {'G', 'N', 'U', '\0'}) note.push_back(static_cast<std::byte>(c));
  note.insert(note.end(), id.begin(), id.end());
  note.resize((note.size() + 3) & ~size_t{3});
  segments_.push_back({.p_type = PT_NOTE,
                       .p_flags = PF_R,
                       .p_offset = next_offset(),
                       .p_vaddr = next_offset(),
                       .p_paddr = next_offset(),
                       .p_filesz = note.size(),
                       .p_memsz = note.size(),
                       .p_align = 4});
  return Add({.name = ".note.gnu.build-id",
              .bytes = std::move(note),
              .type = SHT_NOTE,
              .flags = SHF_ALLOC});
}

HostileElf& HostileElf::AddFrames() {
  symbolize::EhFrameBuilder frames(next_offset(), {});
  frames.Add({kCode, kEnterSize, {0x07, 16}});  // rule "return address undefined": end of stack
  frames.Add({kDescend, kEnd - kDescend, {}});
  Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  const symbolize::ByteBuilder header = frames.Header(next_offset());
  return Add({.name = ".eh_frame_hdr", .bytes = header.bytes(), .flags = SHF_ALLOC});
}

HostileElf& HostileElf::Segments(std::vector<Elf64_Phdr> segments) {
  segments_.insert(segments_.end(), segments.begin(), segments.end());
  return *this;
}

HostileElf& HostileElf::Lying(Lie lie) {
  lie_ = std::move(lie);
  return *this;
}

void HostileElf::Write(const std::string& path) const {
  std::vector<Elf64_Shdr> headers(1);
  std::string names(1, '\0');
  const auto name = [&](const std::string& text) {
    const auto at = static_cast<Elf64_Word>(names.size());
    names.append(text).push_back('\0');
    return at;
  };
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
  ASSERT_TRUE(file.valid()) << path;
  uint64_t mapped = kEnd;
  for (const Placed& placed : sections_) {
    const HostileSection& section = placed.section;
    const uint64_t size = section.bytes.size() + section.hole;
    headers.push_back({.sh_name = name(section.name),
                       .sh_type = section.type,
                       .sh_flags = section.flags,
                       .sh_addr = (section.flags & SHF_ALLOC) != 0 ? placed.offset : 0,
                       .sh_offset = placed.offset,
                       .sh_size = size,
                       .sh_link = section.link,
                       .sh_info = 0,
                       .sh_addralign = 1,
                       .sh_entsize = section.entry_size});
    WriteAt(file.get(), placed.offset, section.bytes.data(), section.bytes.size());
    if ((section.flags & SHF_ALLOC) != 0) mapped = placed.offset + size;
  }
  headers.push_back({.sh_name = name(".shstrtab"), .sh_type = SHT_STRTAB, .sh_offset = next_});
  headers.back().sh_size = names.size();

  std::vector<Elf64_Phdr> segments = segments_;
  segments.push_back({.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_X,
                      .p_offset = 0,
                      .p_vaddr = 0,
                      .p_paddr = 0,
                      .p_filesz = mapped,
                      .p_memsz = mapped,
                      .p_align = 4096});
  // Program headers that do not fit in front of the code go to the end of the file.
  const bool fits = sizeof(Elf64_Ehdr) + segments.size() * sizeof(Elf64_Phdr) <= kCode;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_entry = kCode;
  header.e_shoff = (next_ + names.size() + 15) & ~uint64_t{15};
  header.e_phoff = fits ? sizeof(Elf64_Ehdr) : header.e_shoff + headers.size() * sizeof(Elf64_Shdr);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(std::min<size_t>(segments.size(), PN_XNUM));
  if (segments.size() >= PN_XNUM) headers[0].sh_info = static_cast<Elf64_Word>(segments.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  const uint64_t sections_at = header.e_shoff, segments_at = header.e_phoff;
  if (lie_) lie_(header, headers);
  WriteAt(file.get(), 0, &header, sizeof(header));
  WriteAt(file.get(), kCode, code_.data(), code_.size());
  WriteAt(file.get(), next_, names.data(), names.size());
  WriteAt(file.get(), sections_at, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  WriteAt(file.get(), segments_at, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  ASSERT_EQ(fchmod(file.get(), 0755), 0);
}

std::string HostileElf::Bytes() const {
  char name[] = "/tmp/hostile-elf-XXXXXX";
  const UniqueFd file(mkstemp(name));
  Write(name);
  std::ifstream in(name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  unlink(name);
  return text.str();
}

}  // namespace profiler::tests

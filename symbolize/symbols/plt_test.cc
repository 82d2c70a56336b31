#include "symbolize/symbols/plt.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/symbols/elf_symbols.h"

namespace profiler::symbolize {
namespace {

template <class T>
void Append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A builder of a shared library that has only the tables from which PLT stubs get names.
class Library {
 public:
  explicit Library(uint16_t machine) : machine_(machine) {
    Add({.name = ""}, "");
    dynsym_.assign(sizeof(Elf64_Sym), '\0');
  }

  // Adds a function of another library; its address is in GOT slot `slot`.
  Library& Import(std::string_view name, uint64_t slot, bool lazy = true) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(dynstr_.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    dynstr_ += name;
    dynstr_ += '\0';
    Append(dynsym_, symbol);
    const uint64_t index = dynsym_.size() / sizeof(Elf64_Sym) - 1;
    Append(lazy ? rela_plt_ : rela_dyn_, Elf64_Rela{slot, ELF64_R_INFO(index, 7), 0});
    return *this;
  }

  Library& Code(std::string_view name, uint64_t address, uint64_t entry_size,
                std::initializer_list<uint32_t> words) {
    std::string contents;
    for (uint32_t word : words) Append(contents, word);
    Add({name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, address, 0, entry_size}, contents);
    return *this;
  }

  // Formats each symbol as "address+size=name", in hexadecimal.
  std::string Symbols() {
    const auto index = static_cast<uint32_t>(headers_.size());
    Add({".dynsym", SHT_DYNSYM, SHF_ALLOC, 0, index + 1, sizeof(Elf64_Sym)}, dynsym_);
    Add({".dynstr", SHT_STRTAB, SHF_ALLOC}, dynstr_);
    Add({".rela.plt", SHT_RELA, SHF_ALLOC, 0, index, sizeof(Elf64_Rela)}, rela_plt_);
    Add({".rela.dyn", SHT_RELA, SHF_ALLOC, 0, index, sizeof(Elf64_Rela)}, rela_dyn_);
    const std::string file = Finish();
    const auto* data = reinterpret_cast<const std::byte*>(file.data());
    const auto image = ElfImage::Parse({data, file.size()});
    EXPECT_TRUE(image.ok()) << image.status();
    const SymbolTable table = ReadElfSymbols(*image, *image);
    std::string out;
    for (const Symbol& symbol : table.symbols()) {
      char text[64];
      std::snprintf(text, sizeof(text), "%zx+%zx=", size_t{symbol.start},
                    size_t{symbol.end - symbol.start});
      out += (out.empty() ? "" : " ") + (text + table.ShownName(symbol));
    }
    return out;
  }

 private:
  struct Section {
    std::string_view name;
    uint32_t type = SHT_NULL;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint32_t link = 0;
    uint64_t entry_size = 0;
  };

  void Add(const Section& section, const std::string& contents) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names_.size());
    names_ += section.name;
    names_ += '\0';
    header.sh_type = section.type;
    header.sh_flags = section.flags;
    header.sh_addr = section.address;
    header.sh_offset = sizeof(Elf64_Ehdr) + contents_.size();
    header.sh_size = contents.size();
    header.sh_link = section.link;
    header.sh_entsize = section.entry_size;
    headers_.push_back(header);
    contents_ += contents;
  }

  std::string Finish() {
    names_ += ".shstrtab";
    names_ += '\0';
    Add({"", SHT_STRTAB}, names_);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine_;
    header.e_shoff = sizeof(header) + contents_.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(headers_.size() - 1);
    std::string file;
    Append(file, header);
    file += contents_;
    for (const Elf64_Shdr& section : headers_) Append(file, section);
    return file;
  }

  uint16_t machine_;
  std::vector<Elf64_Shdr> headers_;
  std::string contents_;
  std::string names_;
  std::string dynsym_;
  std::string dynstr_ = std::string(1, '\0');
  std::string rela_plt_;
  std::string rela_dyn_;
};

// jmp *disp(%rip) in 8 bytes: ff 25 disp 66 90.
constexpr uint32_t JumpLow(uint32_t disp) { return 0x25ff | disp << 16; }
constexpr uint32_t JumpHigh(uint32_t disp) { return 0x90660000 | disp >> 16; }

TEST(PltTest, X86LazyStubsFollowTheBinderAndJumpInAnyOrder) {
  // A displacement counts from the end of the jump, six bytes into the stub.
  EXPECT_EQ(Library(EM_X86_64)
                .Import("first", 0x4018)
                .Import("second", 0x4020)
                .Code(".plt", 0x1000, 16,
                      {0x35ff, 0, JumpLow(0x10), JumpHigh(0x10),                   //
                       JumpLow(0x4020 - 0x1016), JumpHigh(0x4020 - 0x1016), 0, 0,  //
                       JumpLow(0x4018 - 0x1026), JumpHigh(0x4018 - 0x1026), 0, 0})
                .Symbols(),
            "1000+30=.plt 1010+10=second@plt 1020+10=first@plt");
}

TEST(PltTest, X86StubsForBranchTrackingAreInASectionOfTheirOwn) {
  constexpr uint32_t kEndbr64 = 0xfa1e0ff3;
  // endbr64; bnd jmp *disp(%rip): the displacement counts from the 11th byte.
  constexpr uint32_t kDisplacement = 0x4018 - 0x200b;
  EXPECT_EQ(Library(EM_X86_64)
                .Import("f", 0x4018)
                .Code(".plt", 0x1000, 16, {0x35ff, 0, 0, 0, kEndbr64, 0x68, 0, 0})
                .Code(".plt.sec", 0x2000, 16,
                      {kEndbr64, 0x25fff2 | kDisplacement << 24, kDisplacement >> 8, 0})
                .Symbols(),
            "1000+20=.plt 2000+10=f@plt");
}

TEST(PltTest, X86StubsOfEagerlyBoundFunctionsAreNamedByTheDynamicRelocations) {
  EXPECT_EQ(Library(EM_X86_64)
                .Import("eager", 0x4018, /*lazy=*/false)
                .Code(".plt.got", 0x1000, 8,
                      {JumpLow(0x4018 - 0x1006), JumpHigh(0x4018 - 0x1006),  //
                       JumpLow(0x5000), JumpHigh(0x5000)})
                .Symbols(),
            "1000+8=eager@plt 1008+8=offset_0x1008@plt");
}

// adrp x16, +pages; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17
constexpr uint32_t Adrp(uint32_t pages) { return 0x90000010 | (pages & 3) << 29 | pages >> 2 << 5; }
constexpr uint32_t Ldr(uint32_t offset) { return 0xf9400211 | offset / 8 << 10; }
constexpr uint32_t kAdd = 0x91000210;
constexpr uint32_t kBr = 0xd61f0220;
constexpr uint32_t kNop = 0xd503201f;
constexpr uint32_t kBtiC = 0xd503245f;

TEST(PltTest, Arm64StubsFollowTheBinder) {
  EXPECT_EQ(Library(EM_AARCH64)
                .Import("first", 0x11018)
                .Import("second", 0x11020)
                .Code(".plt", 0x1000, 16,
                      {0xa9bf7bf0, Adrp(16), Ldr(0x10), kAdd, kBr, kNop, kNop, kNop,  //
                       Adrp(16), Ldr(0x18), kAdd, kBr,                                //
                       Adrp(16), Ldr(0x20), kAdd, kBr})
                .Symbols(),
            "1000+40=.plt 1020+10=first@plt 1030+10=second@plt");
}

TEST(PltTest, Arm64StubsMayBeginWithALandingPad) {
  EXPECT_EQ(Library(EM_AARCH64)
                .Import("first", 0x11018)
                .Import("second", 0x11020)
                .Code(".plt", 0x1000, 24,
                      {kBtiC, Adrp(16), Ldr(0x18), kAdd, kBr, kNop,  //
                       kBtiC, Adrp(16), Ldr(0x20), kAdd, kBr, kNop})
                .Symbols(),
            "1000+30=.plt 1000+18=first@plt 1018+18=second@plt");
}

TEST(PltTest, OtherMachinesHaveNoneNamed) {
  EXPECT_EQ(Library(EM_RISCV).Import("f", 0x4018).Code(".plt", 0x1000, 16, {0, 0, 0, 0}).Symbols(),
            "");
}

}  // namespace
}  // namespace profiler::symbolize

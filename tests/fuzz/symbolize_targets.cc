// Fuzzes sources of names: ELF images, maps of JITs, kallsyms, and mangled names.

#include <elf.h>

#include <cstring>
#include <string>

#include "src/analysis/name_rules.h"
#include "src/base/byte_reader.h"
#include "src/views/annotate/disassembler.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/static_probes.h"
#include "symbolize/symbols/demangle.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/jit_dump.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/symbols/perf_map.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"
#include "symbolize/unwind/arch/architecture.h"
#include "tests/fuzz/compiled_programs.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

// Returns the text with a NUL at its end. Parsers of whole texts need this NUL.
Bytes NulTerminated(std::span<const std::byte> text) {
  Bytes bytes(text.begin(), text.end());
  bytes.push_back(std::byte{0});
  return bytes;
}

// Looks symbols up at their first and last addresses, and uses their names.
void UseSymbols(const symbolize::SymbolTable& table) {
  for (const symbolize::Symbol& symbol : table.symbols()) {
    Require(table.Find(symbol.start) != nullptr, "a symbol is found where it starts");
    (void)table.Find(symbol.end);
    (void)table.RawName(symbol);
    (void)table.ShownName(symbol);
  }
  (void)table.Find(UINT64_MAX);
}

void ReadElf(std::span<const std::byte> input) {
  const auto image = symbolize::ElfImage::Parse(input);
  if (!image.ok()) return;
  (void)symbolize::ReadDebugLink(*image);
  for (const symbolize::ElfSegment& segment : image->segments()) {
    (void)image->AddressOf(segment.offset);
    (void)image->OffsetOf(segment.address);
    (void)image->BytesAt(segment.address, 16);
  }
  (void)symbolize::HasSymtab(*image);
  for (const symbolize::StaticProbe& probe : symbolize::ReadStaticProbes(*image)) {
    Require(!probe.provider.empty() && !probe.name.empty(), "a static probe has a name");
    (void)image->OffsetOf(probe.location);
  }
  UseSymbols(symbolize::ReadElfSymbols(*image, *image));
}

template <class T>
void Put(const T& value, size_t at, Bytes* out) {
  if (out->size() < at + sizeof(value)) out->resize(at + sizeof(value));
  std::memcpy(out->data() + at, &value, sizeof(value));
}

// Returns a shared object with a segment, a note, a .plt, two symbols and a static probe.
Bytes SmallElf() {
  constexpr size_t kSegments = 0x40, kNotes = 0xc0, kCode = 0x100, kSymbols = 0x140,
                   kStrings = 0x1a0, kSectionNames = 0x1c0, kSections = 0x200, kProbes = 0x3c0;
  Bytes bytes;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = kSegments;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shoff = kSections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 7;
  header.e_shstrndx = 5;
  Put(header, 0, &bytes);
  Put(Elf64_Phdr{PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x1000, 0x1000, 0x1000}, kSegments, &bytes);
  Put(Elf64_Phdr{PT_NOTE, PF_R, kNotes, kNotes, 0, 0x18, 0x18, 4}, kSegments + sizeof(Elf64_Phdr),
      &bytes);
  Put(Elf64_Nhdr{4, 8, NT_GNU_BUILD_ID}, kNotes, &bytes);
  Put(uint32_t{0x554e47}, kNotes + 12, &bytes);  // "GNU"
  Put(uint64_t{0x1122334455667788}, kNotes + 16, &bytes);
  Put(uint64_t{0x0000000025ff}, kCode, &bytes);  // jmp *0(%rip)
  Put(Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 2, kCode + 16, 16},
      kSymbols + sizeof(Elf64_Sym), &bytes);
  Put(Elf64_Sym{8, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 2, kCode + 32, 0},
      kSymbols + 2 * sizeof(Elf64_Sym), &bytes);
  Put("\0_Z1fv\0\0local", kStrings, &bytes);
  Put("\0.plt\0.symtab\0.strtab\0.note\0.note.stapsdt", kSectionNames, &bytes);
  Put(Elf64_Nhdr{8, 36, 3}, kProbes, &bytes);
  Put("stapsdt", kProbes + 12, &bytes);
  Put(uint64_t{kCode + 16}, kProbes + 20, &bytes);
  Put("p\0name\0-4@%edi", kProbes + 44, &bytes);
  const auto section = [&](size_t index, uint32_t name, uint32_t type, uint64_t at, uint64_t size,
                           uint32_t link, uint64_t entry) {
    Put(Elf64_Shdr{name, type, SHF_ALLOC | SHF_EXECINSTR, at, at, size, link, 0, 4, entry},
        kSections + index * sizeof(Elf64_Shdr), &bytes);
  };
  section(1, 22, SHT_NOTE, kNotes, 0x18, 0, 0);
  section(2, 1, SHT_PROGBITS, kCode, 0x40, 0, 16);
  section(3, 6, SHT_SYMTAB, kSymbols, 3 * sizeof(Elf64_Sym), 4, sizeof(Elf64_Sym));
  section(4, 14, SHT_STRTAB, kStrings, 0x20, 0, 0);
  section(5, 14, SHT_STRTAB, kSectionNames, 0x40, 0, 0);
  section(6, 28, SHT_NOTE, kProbes, 0x40, 0, 0);
  return bytes;
}

void ReadPerfMap(std::span<const std::byte> input) {
  const symbolize::PerfMap map = symbolize::PerfMap::Parse(NulTerminated(input));
  (void)map.Find(0);
  (void)map.Find(0x7f0000000010);
  (void)map.Find(UINT64_MAX);
}

void ReadJitDump(std::span<const std::byte> input) {
  const auto dump = symbolize::JitDump::Parse(input);
  if (!dump.ok()) return;
  for (const symbolize::JitCode& code : dump->codes()) {
    const symbolize::JitDump::Function* const function = dump->Find(code.offset);
    if (function == nullptr) continue;
    Require(function->code.size() <= input.size(), "a function's code is in the dump");
    (void)symbolize::JitDump::LineAt(*function, code.size / 2);
  }
  (void)dump->Find({0});
  (void)dump->Find({UINT64_MAX});
}

void ReadKallsyms(std::span<const std::byte> input) {
  const symbolize::KernelSymbols symbols = symbolize::KernelSymbols::Parse(NulTerminated(input));
  UseSymbols(symbols.table());
  (void)symbols.ReferenceAddress("_stext");
}

// Demangles the input and simplifies the result. Also simplifies the input without demangling it.
void ReadName(std::span<const std::byte> input) {
  const std::string name = symbolize::Demangle(TextOf(input));
  for (const std::string_view shown : {std::string_view(name), TextOf(input)}) {
    (void)analysis::SimplifiedName(shown,
                                   {.fold_templates = 1, .merge_clones = true, .strip_args = true});
    Require(analysis::SimplifiedName(shown, {}) == shown, "a name stays without rules");
  }
}

// Disassembles the whole input, for each machine.
void ReadCode(std::span<const std::byte> input) {
  for (const symbolize::Architecture architecture : symbolize::Architectures()) {
    auto disassembler =
        annotate::Disassembler::Create(architecture->elf_machine, annotate::Syntax::kAtt);
    Require(disassembler.ok(), "the machine is disassembled");
    for (size_t at = 0; at < input.size();) {
      const auto instruction = (*disassembler)->Decode(input.subspan(at), at);
      Require(instruction.size > 0 && instruction.size <= input.size() - at,
              "an instruction has bytes, and they are there");
      at += instruction.size;
    }
  }
}

std::vector<Bytes> ElfSeeds() {
  std::vector<Bytes> seeds = CompiledPrograms();
  seeds.push_back(SmallElf());
  return seeds;
}
std::vector<Bytes> PerfMapSeeds() {
  return {ToBytes("7f0000000000 20 add\n7f0000000010 20 LazyCompile:~f file.js:3\n0x10 0x1 x\n")};
}
std::vector<Bytes> JitDumpSeeds() {
  symbolize::JitDumpBuilder dump;
  dump.Load(10, 0x1000, 1, "first", std::string(32, '\x90'));
  dump.Lines(0x2000, {{0x2000, 3, "a.js"}, {0x2008, 4, "a.js"}, {0x2010, 5, "\xff"}});
  dump.Load(20, 0x2000, 2, "second", std::string(48, '\xc3')).Move(30, 0x3000, 32, 1);
  dump.Record(4, 0, std::string(24, '\0')).Load(40, 0x1000, 3, "again", "code").Record(3, 50, "");
  const symbolize::JitDumpBuilder foreign(0x4454694a), of_the_processor(0x4a695444, 1);
  return {ToBytes(dump.bytes()), ToBytes(foreign.bytes()), ToBytes(of_the_processor.bytes())};
}
std::vector<Bytes> KallsymsSeeds() {
  return {ToBytes("ffffffff81000000 T _stext\nffffffff81000100 t do_it\n"
                  "ffffffffc0a31000 t nf_conntrack_in\t[nf_conntrack]\n"
                  "ffffffffc0a32000 d table\t[nf_conntrack]\n"),
          ToBytes("0000000000000000 T _text\n")};
}
// Returns a name as rustc mangled it before 2025: as a C++ name that ends with a hash.
Bytes LegacyRustName(const std::string& identifier) {
  return ToBytes("_ZN4core" + std::to_string(identifier.size()) + identifier +
                 "17h0123456789abcdefE");
}

std::vector<Bytes> NameSeeds() {
  return {ToBytes("_ZNSt6vectorIiSaIiEE9push_backEOi"),
          ToBytes("_Z3fooi.isra.0"),
          ToBytes("_ZN3foo3bar17h0123456789abcdefE"),
          ToBytes("_RNvC6_123foo3bar"),
          LegacyRustName("_$LT$a..B$LT$$u5b$u8$u5d$$GT$$u20$as$u20$c..D$GT$"),
          LegacyRustName("f$C$SP$BP$RF$LP$RP$"),
          LegacyRustName("$u7e9$$u20ac$$u1f600$"),
          LegacyRustName("a$d800$b$c.llvm.1"),
          ToBytes("_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE"),
          ToBytes("_RNvMs_NtCs1234_7mycrateINtB5_3FooTjEE3new"),
          ToBytes("void a::f<b<int>, (c)1>(d<e> (*)(int))::{lambda(int)#1}::operator()(int) const "
                  "[clone .cold]"),
          ToBytes("<a::B<u8> as c::D>::operator< <int>.part.0.isra.1")};
}
std::vector<Bytes> CodeSeeds() {
  const auto bytes = [](std::initializer_list<int> values) {
    Bytes code;
    for (const int value : values) code.push_back(static_cast<std::byte>(value));
    return code;
  };
  return {
      bytes({0x55, 0x48, 0x89, 0xe5, 0xe8, 0x10, 0,    0,    0,    0x48, 0x8b, 0x05, 0xd1, 0x2e, 0,
             0,    0x75, 0xf0, 0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x07, 0xf0, 0x0f, 0xb1, 0x0f, 0xc3}),
      bytes({0xfd, 0x7b, 0xbf, 0xa9, 0x03, 0x00, 0x00, 0x94, 0x60, 0xff, 0xff, 0xb4})};
}

}  // namespace

FuzzTarget ElfTarget() { return {"elf", "an ELF image and its symbols", ReadElf, ElfSeeds}; }
FuzzTarget PerfMapTarget() { return {"perf_map", "the map of a JIT", ReadPerfMap, PerfMapSeeds}; }
FuzzTarget JitDumpTarget() { return {"jit_dump", "the dump of a JIT", ReadJitDump, JitDumpSeeds}; }
FuzzTarget KallsymsTarget() {
  return {"kallsyms", "the kernel's symbols", ReadKallsyms, KallsymsSeeds};
}
FuzzTarget CodeTarget() { return {"code", "machine code", ReadCode, CodeSeeds}; }
FuzzTarget DemangleTarget() { return {"demangle", "a mangled name", ReadName, NameSeeds}; }

}  // namespace profiler::fuzz

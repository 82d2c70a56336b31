#include "symbolize/symbols/plt.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "symbolize/elf/libelf_file.h"
#include "symbolize/elf/offset_table.h"

namespace profiler::symbolize {
namespace {

struct Stub {
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t slot = 0;  // address of its GOT slot; 0: unknown
};

// A GOT slot and the symbol that its relocation names.
struct SlotTarget {
  uint64_t slot = 0;
  Symbol named;  // only name and area are set
};

template <class T>
T ValueAt(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

// Returns the address of the slot that a stub jumps through; 0 for other code. The slot is relative
// to the end of the instruction, or to %ebx, which has the GOT's address.
//
// x86-64:  [endbr64] [bnd] jmp *disp32(%rip)      f3 0f 1e fa | f2 | ff 25 disp32
// i386:    [endbr32] jmp *slot                    f3 0f 1e fb | ff 25 imm32
//          [endbr32] jmp *disp32(%ebx)            …           | ff a3 disp32
uint64_t X86Slot(const ElfImage& image, std::span<const std::byte> code, uint64_t address) {
  constexpr uint32_t kEndbr64 = 0xfa1e0ff3, kEndbr32 = 0xfb1e0ff3;
  const auto first = ValueAt<uint32_t>(code, 0);
  size_t at = first == kEndbr64 || first == kEndbr32 ? 4 : 0;
  if (ValueAt<uint8_t>(code, at) == 0xf2) ++at;
  if (code.size() < at + 6) return 0;
  const auto jump = ValueAt<uint16_t>(code, at);
  const auto displacement =
      static_cast<uint64_t>(static_cast<int64_t>(ValueAt<int32_t>(code, at + 2)));
  if (image.machine() != EM_386) return jump == 0x25ff ? address + at + 6 + displacement : 0;
  if (jump == 0x25ff) return displacement & 0xffffffff;
  const ElfSection* const table = FindGlobalOffsetTable(image);
  if (jump != 0xa3ff || table == nullptr) return 0;
  return (table->address.value + displacement) & 0xffffffff;
}

// Reads stubs of equal size. The lazy-binding code at the start of .plt looks like one or more
// stubs whose slots have no symbol.
void FindX86Stubs(const ElfImage& image, const ElfSection& section, uint64_t default_size,
                  std::vector<Stub>& stubs) {
  const uint64_t size =
      section.entry_size >= 8 && section.entry_size <= 64 ? section.entry_size : default_size;
  for (uint64_t at = 0; at + size <= section.contents.size(); at += size) {
    const uint64_t address = section.address.value + at;
    stubs.push_back({address, size, X86Slot(image, section.contents.subspan(at, size), address)});
  }
}

// AArch64:  [bti c]; adrp x16, page; ldr x17, [x16, #offset]; add …; br x17
// Stubs are 16 or 24 bytes long; each ends at the start of the next one.
void FindArm64Stubs(const ElfSection& section, std::vector<Stub>& stubs) {
  constexpr uint32_t kBtiC = 0xd503245f;
  const std::span<const std::byte> code = section.contents;
  const auto end_last = [&stubs](uint64_t end) {
    if (!stubs.empty() && stubs.back().size == 0) stubs.back().size = end - stubs.back().start;
  };
  for (size_t at = 0; at + 8 <= code.size(); at += 4) {
    const auto adrp = ValueAt<uint32_t>(code, at);
    const auto ldr = ValueAt<uint32_t>(code, at + 4);
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    const uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    const auto signed_pages = static_cast<int64_t>(pages << 43) >> 43;
    const uint64_t address = section.address.value + at;
    const uint64_t slot = (address & ~uint64_t{0xfff}) +
                          static_cast<uint64_t>(signed_pages) * 4096 +
                          uint64_t{ldr >> 10 & 0xfff} * 8;
    const bool has_bti = at >= 4 && ValueAt<uint32_t>(code, at - 4) == kBtiC;
    const uint64_t start = has_bti ? address - 4 : address;
    end_last(start);
    stubs.push_back({start, 0, slot});
  }
  end_last(section.address.value + code.size());
}

// A reader of the relocations of slots that stubs jump through.
class RelocationReader {
 public:
  RelocationReader(const ElfImage& image, const SymbolTableBuilder& builder,
                   const std::vector<uint64_t>& slots)
      : image_(image), file_(image.bytes()), builder_(builder), slots_(slots) {}

  void Read(const ElfSection& section, std::vector<SlotTarget>& targets) const {
    const bool has_addends = section.type == SHT_RELA;
    if (!has_addends && section.type != SHT_REL) return;
    Elf_Data* const table = file_.Table(section.contents, has_addends ? ELF_T_RELA : ELF_T_REL);
    const ElfSection* symbols = image_.section(section.link);
    GElf_Rela relocation;
    for (int i = 0; Get(table, i, has_addends, &relocation); ++i) {
      const auto index = static_cast<int>(GELF_R_SYM(relocation.r_info));
      const bool irelative = IsIrelative(GELF_R_TYPE(relocation.r_info));
      const uint64_t resolver = irelative ? AddendOf(relocation, has_addends) : 0;
      if (index == 0 && resolver == 0) continue;
      if (!std::binary_search(slots_.begin(), slots_.end(), relocation.r_offset)) continue;
      const auto named = index != 0 ? NameOf(symbols, index) : NameOfResolver(resolver);
      if (named) targets.push_back({relocation.r_offset, *named});
    }
  }

 private:
  // Reads a relocation. Its addend is 0 if the table has no addends. Returns false after the last
  // relocation.
  static bool Get(Elf_Data* table, int index, bool has_addends, GElf_Rela* relocation) {
    if (has_addends) return gelf_getrela(table, index, relocation) != nullptr;
    GElf_Rel plain;
    if (gelf_getrel(table, index, &plain) == nullptr) return false;
    *relocation = {plain.r_offset, plain.r_info, 0};
    return true;
  }

  // Returns the addend. If the table has none, the addend is the word at the relocated address.
  uint64_t AddendOf(const GElf_Rela& relocation, bool has_addends) const {
    if (has_addends) return static_cast<uint64_t>(relocation.r_addend);
    const ElfAddress place{relocation.r_offset};
    return image_.is_64_bit() ? ValueAt<uint64_t>(image_.BytesAt(place, sizeof(uint64_t)), 0)
                              : ValueAt<uint32_t>(image_.BytesAt(place, sizeof(uint32_t)), 0);
  }

  bool IsIrelative(uint64_t type) const {
    switch (image_.machine()) {
      case EM_X86_64:
        return type == R_X86_64_IRELATIVE;
      case EM_386:
        return type == R_386_IRELATIVE;
      default:
        return type == R_AARCH64_IRELATIVE;
    }
  }

  std::optional<Symbol> NameOf(const ElfSection* symbols, int index) const {
    if (symbols == nullptr) return std::nullopt;
    GElf_Sym symbol;
    if (gelf_getsym(file_.Table(symbols->contents, ELF_T_SYM), index, &symbol) == nullptr ||
        symbol.st_name == 0) {
      return std::nullopt;
    }
    Symbol named;
    named.name = symbol.st_name;
    named.area = symbols->type == SHT_DYNSYM ? NameArea::kDynsym : NameArea::kSymtab;
    return named;
  }

  std::optional<Symbol> NameOfResolver(uint64_t address) const {
    const Symbol* symbol = builder_.FindStart(address);
    if (symbol == nullptr) return std::nullopt;
    return *symbol;
  }

  const ElfImage& image_;
  const LibelfFile file_;
  const SymbolTableBuilder& builder_;
  const std::vector<uint64_t>& slots_;
};

std::vector<SlotTarget> FindTargets(const ElfImage& image, const SymbolTableBuilder& builder,
                                    const std::vector<Stub>& stubs) {
  std::vector<uint64_t> slots;
  for (const Stub& stub : stubs) {
    if (stub.slot != 0) slots.push_back(stub.slot);
  }
  std::sort(slots.begin(), slots.end());
  std::vector<SlotTarget> targets;
  const RelocationReader reader(image, builder, slots);
  // .rela.dyn is large, and only .plt.got needs it.
  for (std::string_view name : {".rela.plt", ".rel.plt", ".rela.dyn", ".rel.dyn"}) {
    const bool large = name.ends_with(".dyn");
    if (large && image.FindSection(".plt.got") == nullptr) continue;
    if (const ElfSection* section = image.FindSection(name)) reader.Read(*section, targets);
  }
  std::stable_sort(targets.begin(), targets.end(),
                   [](const SlotTarget& a, const SlotTarget& b) { return a.slot < b.slot; });
  return targets;
}

Symbol PltSymbol(const Stub& stub) {
  Symbol symbol;
  symbol.start = stub.start;
  symbol.end = stub.start + stub.size;
  return symbol;
}

}  // namespace

void AddPltSymbols(const ElfImage& image, SymbolTableBuilder& builder) {
  const bool x86 = image.machine() == (image.is_64_bit() ? EM_X86_64 : EM_386);
  if (!x86 && (!image.is_64_bit() || image.machine() != EM_AARCH64)) return;
  const ElfSection* plt = image.FindSection(".plt");
  std::vector<Stub> stubs;
  if (x86) {
    if (plt != nullptr) FindX86Stubs(image, *plt, 16, stubs);
    if (const ElfSection* sec = image.FindSection(".plt.sec")) FindX86Stubs(image, *sec, 16, stubs);
    if (const ElfSection* got = image.FindSection(".plt.got")) FindX86Stubs(image, *got, 8, stubs);
  } else if (plt != nullptr) {
    FindArm64Stubs(*plt, stubs);
  }
  const std::vector<SlotTarget> targets = FindTargets(image, builder, stubs);

  if (plt != nullptr && !plt->contents.empty()) {
    // Adds the whole section as a symbol. Find prefers the stubs inside, because they are
    // innermost.
    Symbol whole = PltSymbol({plt->address.value, plt->contents.size(), 0});
    whole.area = NameArea::kOwned;
    whole.name = builder.AddOwnName(".plt");
    builder.Add(whole);
  }
  for (const Stub& stub : stubs) {
    const auto target =
        std::lower_bound(targets.begin(), targets.end(), stub.slot,
                         [](const SlotTarget& t, uint64_t slot) { return t.slot < slot; });
    const bool found = target != targets.end() && target->slot == stub.slot && stub.slot != 0;
    const bool in_plt = plt != nullptr && plt->Holds({stub.start});
    if (!found && in_plt) continue;
    Symbol symbol = PltSymbol(stub);
    symbol.plt = true;
    if (found) {
      symbol.name = target->named.name;
      symbol.area = target->named.area;
    } else {
      const auto offset = image.OffsetOf({stub.start});
      symbol.area = NameArea::kOwned;
      symbol.name =
          builder.AddOwnName(absl::StrFormat("offset_%#x", offset ? offset->value : stub.start));
    }
    builder.Add(symbol);
  }
}

}  // namespace profiler::symbolize

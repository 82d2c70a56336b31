#include "symbolize/symbols/plt.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "symbolize/elf/libelf_file.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {
namespace {

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

// A reader of the relocations of slots that stubs jump through.
class RelocationReader {
 public:
  RelocationReader(const ElfImage& image, uint32_t irelative, const SymbolTableBuilder& builder,
                   const std::vector<uint64_t>& slots)
      : image_(image),
        irelative_(irelative),
        file_(image.bytes()),
        builder_(builder),
        slots_(slots) {}

  void Read(const ElfSection& section, std::vector<SlotTarget>& targets) const {
    const bool has_addends = section.type == SHT_RELA;
    if (!has_addends && section.type != SHT_REL) return;
    Elf_Data* const table = file_.Table(section.contents, has_addends ? ELF_T_RELA : ELF_T_REL);
    const ElfSection* symbols = image_.section(section.link);
    GElf_Rela relocation;
    for (int i = 0; Get(table, i, has_addends, &relocation); ++i) {
      const auto index = static_cast<int>(GELF_R_SYM(relocation.r_info));
      const bool irelative = GELF_R_TYPE(relocation.r_info) == irelative_;
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
  const uint32_t irelative_;  // type of the relocation that an IFUNC fills
  const LibelfFile file_;
  const SymbolTableBuilder& builder_;
  const std::vector<uint64_t>& slots_;
};

std::vector<SlotTarget> FindTargets(const ElfImage& image, uint32_t irelative,
                                    const SymbolTableBuilder& builder,
                                    const std::vector<LinkageStub>& stubs) {
  std::vector<uint64_t> slots;
  for (const LinkageStub& stub : stubs) {
    if (stub.slot != 0) slots.push_back(stub.slot);
  }
  std::sort(slots.begin(), slots.end());
  std::vector<SlotTarget> targets;
  const RelocationReader reader(image, irelative, builder, slots);
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

Symbol PltSymbol(const LinkageStub& stub) {
  Symbol symbol;
  symbol.start = stub.start;
  symbol.end = stub.start + stub.size;
  return symbol;
}

}  // namespace

void AddPltSymbols(const ElfImage& image, SymbolTableBuilder& builder) {
  const auto architecture = ArchitectureOfElf(image.machine(), image.is_64_bit());
  if (!architecture || (*architecture)->linkage_stubs == nullptr) return;
  const ElfSection* plt = image.FindSection(".plt");
  const std::vector<LinkageStub> stubs = (*architecture)->linkage_stubs(image);
  const std::vector<SlotTarget> targets =
      FindTargets(image, (*architecture)->irelative, builder, stubs);

  if (plt != nullptr && !plt->contents.empty()) {
    // Adds the whole section as a symbol. Find prefers the stubs inside, because they are
    // innermost.
    Symbol whole = PltSymbol({plt->address.value, plt->contents.size(), 0});
    whole.area = NameArea::kOwned;
    whole.name = builder.AddOwnName(".plt");
    builder.Add(whole);
  }
  for (const LinkageStub& stub : stubs) {
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

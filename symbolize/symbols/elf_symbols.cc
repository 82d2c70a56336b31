#include "symbolize/symbols/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"
#include "symbolize/go/table/functions.h"
#include "symbolize/symbols/plt.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {
namespace {

// Ten times as many as the largest programs have. So many symbols take 1 GiB while they are sorted.
constexpr size_t kMostSymbols = size_t{1} << 24;

// Properties of a section that decide whether its symbols are used.
struct SectionTraits {
  bool code = false;        // allocated and executable, or function descriptors
  bool named_text = false;  // labels in it are used, as in perf
};

std::vector<SectionTraits> TraitsOf(const ElfImage& image) {
  std::vector<SectionTraits> traits;
  traits.reserve(image.sections().size());
  for (const ElfSection& section : image.sections()) {
    const bool has_code = (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) != 0;
    traits.push_back({has_code || (image.machine() == EM_PPC64 && section.name == ".opd"),
                      section.name.find("text") != std::string_view::npos});
  }
  return traits;
}

// `$x`, `$d`, `$a`, `$t`, `.L…`: ARM assemblers' marks of code and data, not names.
bool IsMappingSymbol(std::string_view name) {
  return name.starts_with('$') || name.starts_with(".L");
}

class SymbolSection {
 public:
  SymbolSection(const ElfImage& image, const ElfSection& section, NameArea area)
      : image_(image), section_(section), area_(area) {
    const ElfSection* names = image.section(section.link);
    if (names != nullptr && names->type == SHT_STRTAB) names_ = names->contents;
    if (image.machine() == EM_PPC64) descriptors_ = image.FindSection(".opd");
    const auto architecture = ArchitectureOfElf(image.machine(), image.is_64_bit());
    has_mapping_symbols_ = image.machine() == EM_ARM || image.machine() == EM_RISCV ||
                           (architecture && (*architecture)->has_mapping_symbols);
  }

  void AddTo(SymbolTableBuilder& builder) const {
    builder.SetNames(area_, names_);
    const std::vector<SectionTraits> traits = TraitsOf(image_);
    const LibelfFile file(image_.bytes());
    const size_t most = kMostSymbols * gelf_fsize(file.get(), ELF_T_SYM, 1, EV_CURRENT);
    Elf_Data* const table =
        file.Table(section_.contents.first(std::min(section_.contents.size(), most)), ELF_T_SYM);
    if (table != nullptr) builder.Reserve(table->d_size / sizeof(GElf_Sym));
    GElf_Sym raw;
    for (int i = 0; gelf_getsym(table, i, &raw) != nullptr; ++i) {
      if (Counts(raw, traits)) builder.Add(Convert(raw));
    }
    builder.FixUp();
  }

 private:
  bool Counts(const GElf_Sym& raw, const std::vector<SectionTraits>& traits) const {
    if (raw.st_name == 0 || raw.st_name >= names_.size()) return false;
    if (raw.st_shndx == SHN_UNDEF || raw.st_shndx == SHN_ABS) return false;
    const auto type = GELF_ST_TYPE(raw.st_info);
    const bool label = type == STT_NOTYPE;
    if (!label && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT) return false;
    if (raw.st_shndx < traits.size()) {
      const SectionTraits& section = traits[raw.st_shndx];
      if (!section.code || (label && !section.named_text)) return false;
    } else if (type != STT_FUNC && type != STT_GNU_IFUNC) {
      return false;  // SHN_XINDEX, or no section headers: only functions are certainly code
    }
    const auto visibility = GELF_ST_VISIBILITY(raw.st_other);
    if (label && (visibility == STV_HIDDEN || visibility == STV_INTERNAL)) return false;
    // Drops compilers' labels inside functions. On i386, GNU as keeps them in the symbol table if
    // addresses are relative to the offset table.
    const bool is_local = label && TextOf(names_.subspan(raw.st_name)).starts_with(".L");
    if (is_local) return false;
    return !has_mapping_symbols_ || !IsMappingSymbol(TextOf(names_.subspan(raw.st_name)));
  }

  // First ABI of 64-bit PowerPC: a function's symbol is the address of a descriptor in .opd. The
  // descriptor begins with the address of the code.
  uint64_t CodeAt(uint64_t address) const {
    if (descriptors_ == nullptr || !descriptors_->Holds(ElfAddress{address})) return address;
    const uint64_t at = address - descriptors_->address.value;
    ByteReader reader(descriptors_->contents);
    reader.Skip(at);
    const auto code = reader.Read<uint64_t>();
    if (!reader.ok()) return address;
    constexpr bool kIsBig = std::endian::native == std::endian::big;
    const bool is_big = image_.bytes()[EI_DATA] == std::byte{ELFDATA2MSB};
    return is_big == kIsBig ? code : __builtin_bswap64(code);
  }

  Symbol Convert(const GElf_Sym& raw) const {
    Symbol symbol;
    symbol.start = CodeAt(raw.st_value);
    // An odd address marks Thumb code.
    if (image_.machine() == EM_ARM && GELF_ST_TYPE(raw.st_info) == STT_FUNC) symbol.start &= ~1u;
    const uint64_t end = symbol.start + raw.st_size;
    symbol.end = end < symbol.start ? ~uint64_t{0} : end;
    symbol.name = raw.st_name;
    symbol.area = area_;
    symbol.typed = GELF_ST_TYPE(raw.st_info) != STT_NOTYPE;
    symbol.data = GELF_ST_TYPE(raw.st_info) == STT_OBJECT;
    const auto binding = GELF_ST_BIND(raw.st_info);
    symbol.binding = binding == STB_WEAK     ? Binding::kWeak
                     : binding == STB_GLOBAL ? Binding::kGlobal
                                             : Binding::kLocal;
    return symbol;
  }

  const ElfImage& image_;
  const ElfSection& section_;
  NameArea area_;
  std::span<const std::byte> names_;
  const ElfSection* descriptors_ = nullptr;  // .opd; null: symbols are addresses of code
  bool has_mapping_symbols_ = false;
};

void AddGoFunctions(const ElfImage& image, SymbolTableBuilder& builder) {
  const std::optional<GoFunctions> functions = GoFunctions::Find(image);
  if (!functions) return;
  builder.SetNames(NameArea::kSymtab, functions->names());
  builder.Reserve(functions->size());
  for (size_t i = 0; i < functions->size(); ++i) {
    const std::optional<GoFunction> function = (*functions)[i];
    if (!function || function->name.empty()) continue;
    builder.Add({.start = function->start.value,
                 .end = function->start.value + function->size,
                 .name = function->name_offset});
  }
  builder.FixUp();
}

}  // namespace

bool HasSymtab(const ElfImage& image) { return image.FindSectionOfType(SHT_SYMTAB) != nullptr; }

SymbolTable ReadElfSymbols(const ElfImage& runtime, const ElfImage& symbols,
                           bool leaves_out_dynamic) {
  SymbolTableBuilder builder;
  if (const ElfSection* section = symbols.FindSectionOfType(SHT_SYMTAB)) {
    SymbolSection(symbols, *section, NameArea::kSymtab).AddTo(builder);
  }
  if (const ElfSection* section = symbols.FindSectionOfType(SHT_DYNSYM)) {
    SymbolSection(symbols, *section, NameArea::kDynsym).AddTo(builder);
  } else if (const ElfSection* own = runtime.FindSectionOfType(SHT_DYNSYM)) {
    if (leaves_out_dynamic) SymbolSection(runtime, *own, NameArea::kDynsym).AddTo(builder);
    // A separate .symtab contains these symbols already, but PLT stubs need the names.
    const ElfSection* names = runtime.section(own->link);
    if (names != nullptr) builder.SetNames(NameArea::kDynsym, names->contents);
  }
  if (!HasSymtab(symbols)) AddGoFunctions(runtime, builder);
  AddPltSymbols(runtime, builder);
  return builder.Build();
}

}  // namespace profiler::symbolize

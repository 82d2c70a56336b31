#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "symbolize/python/known_layouts.h"
#include "symbolize/python/python_process.h"

namespace profiler::symbolize::python {
namespace {

// Ten times as many as libpython with all local symbols has.
constexpr size_t kMostSymbols = size_t{1} << 20;
constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";
// With tail calls, each instruction of the interpreter is a function (3.14).
constexpr std::string_view kTailCall = "_TAIL_CALL_";

// A function that the first release of a version had added.
struct Marker {
  std::string_view name;
  uint16_t version;
};
constexpr std::array<Marker, 3> kMarkers = {{
    {"PyCode_NewWithPosOnlyArgs", kPython38},
    {"PyThreadState_GetFrame", VersionOf(3, 9)},
    {"PyIter_Send", kPython310},
}};

bool IsLoop(std::string_view name) {
  if (name.starts_with(kTailCall)) return true;
  if (!name.starts_with(kLoop)) return false;
  name.remove_prefix(kLoop.size());
  return name.empty() || name.front() == '.';
}

struct Symbols {
  std::optional<ElfAddress> runtime, version, code_type, frame_type, dictionary_type;
  uint16_t least_version = 0;
  std::vector<PythonImage::Range> loops;
};

void AddObject(std::string_view name, ElfAddress address, Symbols* symbols) {
  if (name == "_PyRuntime") symbols->runtime = address;
  if (name == "Py_Version") symbols->version = address;
  if (name == "PyCode_Type") symbols->code_type = address;
  if (name == "PyFrame_Type") symbols->frame_type = address;
  if (name == "PyDict_Type") symbols->dictionary_type = address;
}

void AddFunction(std::string_view name, const Elf64_Sym& symbol, Symbols* symbols) {
  for (const Marker& marker : kMarkers) {
    if (name == marker.name) {
      symbols->least_version = std::max(symbols->least_version, marker.version);
    }
  }
  if (symbol.st_size == 0 || symbol.st_value + symbol.st_size < symbol.st_value) return;
  if (!IsLoop(name)) return;
  symbols->loops.push_back(
      {ElfAddress{symbol.st_value}, ElfAddress{symbol.st_value + symbol.st_size}});
}

void AddSymbols(const ElfImage& image, const ElfSection& section, Symbols* symbols) {
  const ElfSection* const names = image.section(section.link);
  if (names == nullptr) return;
  const std::span<const std::byte> table = section.contents;
  const size_t count = std::min(table.size() / sizeof(Elf64_Sym), kMostSymbols);
  for (size_t i = 0; i < count; ++i) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + i * sizeof(symbol), sizeof(symbol));
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const std::string_view name = StringAt(names->contents, symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT) {
      AddObject(name, ElfAddress{symbol.st_value}, symbols);
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      AddFunction(name, symbol, symbols);
    }
  }
}

// Sorts the ranges and joins those that overlap: a symbol is in both tables.
void Merge(std::vector<PythonImage::Range>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<PythonImage::Range> merged;
  for (const PythonImage::Range& range : *ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  *ranges = std::move(merged);
}

}  // namespace

std::optional<PythonImage> PythonImage::Read(const ElfImage& image) {
  if (!image.is_64_bit()) return std::nullopt;
  Symbols symbols;
  const ElfSection* const all = image.FindSectionOfType(SHT_SYMTAB);
  const ElfSection* const dynamic = image.FindSectionOfType(SHT_DYNSYM);
  if (dynamic != nullptr) AddSymbols(image, *dynamic, &symbols);
  if (all != nullptr) AddSymbols(image, *all, &symbols);
  // A stripped program may export nothing, but since 3.10 has the section of the runtime.
  const ElfSection* const section = image.FindSection(".PyRuntime");
  if (!symbols.runtime && section != nullptr) symbols.runtime = section->address;
  if (!symbols.runtime) return std::nullopt;

  PythonImage python;
  python.runtime = *symbols.runtime;
  python.version = symbols.version;
  python.least_version = symbols.least_version;
  python.code_type = symbols.code_type;
  python.frame_type = symbols.frame_type;
  python.dictionary_type = symbols.dictionary_type;
  Merge(&symbols.loops);
  python.evaluation_loops = std::move(symbols.loops);
  python.has_all_loops = all != nullptr && !python.evaluation_loops.empty();
  return python;
}

}  // namespace profiler::symbolize::python

#include "symbolize/symbols/kernel_symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "src/base/byte_reader.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kLongestKallsyms = size_t{256} << 20;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A parser of lines. The text ends with NUL, so that no other check for the end is needed.
class LineParser {
 public:
  explicit LineParser(std::vector<std::byte>& text)
      : start_(reinterpret_cast<char*>(text.data())), at_(start_) {}

  struct Line {
    uint64_t address = 0;
    char type = 0;
    uint32_t name = 0;  // offset of the name in the text
    std::string_view module;
  };

  // Reads the next valid line and puts a NUL after its name. Returns false at the end.
  bool Next(Line& line) {
    while (*at_ != 0) {
      const bool good = ParseHead(line);
      char* const name = at_;
      char* const line_end = EndOfLine();
      at_ = *line_end == 0 ? line_end : line_end + 1;
      if (good && line_end != name) {
        line.name = static_cast<uint32_t>(name - start_);
        line.module = CutModule(name, line_end);
        *line_end = 0;
        return true;
      }
    }
    return false;
  }

 private:
  // Reads address, type and the spaces after them.
  bool ParseHead(Line& line) {
    line.address = 0;
    const char* const first = at_;
    for (int digit = HexDigit(*at_); digit >= 0; digit = HexDigit(*at_)) {
      line.address = line.address << 4 | static_cast<uint64_t>(digit);
      ++at_;
    }
    if (at_ == first || at_[0] != ' ' || at_[1] == 0 || at_[1] == '\n' || at_[2] != ' ') {
      return false;
    }
    line.type = at_[1];
    at_ += 3;
    return true;
  }

  char* EndOfLine() const {
    char* const newline = std::strchr(at_, '\n');
    return newline != nullptr ? newline : at_ + std::strlen(at_);
  }

  // Ends the name before "\t[module]" and returns the module's name.
  static std::string_view CutModule(char* name, char* end) {
    char* const tab = static_cast<char*>(std::memchr(name, '\t', static_cast<size_t>(end - name)));
    if (tab == nullptr) return {};
    *tab = 0;
    std::string_view module(tab + 1, static_cast<size_t>(end - tab - 1));
    if (module.starts_with('[')) module.remove_prefix(1);
    return module.substr(0, module.find(']'));
  }

  char* start_;
  char* at_;
};

bool Counts(char type, std::string_view name) {
  switch (type) {
    case 't':
    case 'T':
    case 'w':
    case 'W':
    case 'd':
    case 'D':
    case 'b':
    case 'B':
      return !name.starts_with('$') && !name.starts_with(".L") && !name.starts_with("L0");
    default:
      return false;
  }
}

bool IsFunction(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

Binding BindingOf(char type) {
  if (type == 'W') return Binding::kWeak;
  return type >= 'A' && type <= 'Z' ? Binding::kGlobal : Binding::kLocal;
}

}  // namespace

bool IsKernelItself(std::string_view name) {
  if (name.starts_with("[kernel")) return true;
  if (!name.starts_with('/')) return false;
  const std::string_view base = name.substr(name.rfind('/') + 1);
  return base.starts_with("vmlinu") || base == "kcore";
}

bool IsKernelInBuildIds(std::string_view name) {
  const std::string_view base = name.substr(name.rfind('/') + 1);
  const bool is_module = base.find(".ko") != std::string_view::npos;
  return IsKernelItself(name) || (name.starts_with('/') && !is_module);
}

absl::StatusOr<KernelSymbols> KernelSymbols::Read(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(std::vector<std::byte> text, ReadTextFile(path, kLongestKallsyms));
  return Parse(std::move(text));
}

KernelSymbols KernelSymbols::Parse(std::vector<std::byte> text) {
  KernelSymbols result;
  SymbolTableBuilder builder;
  // Maps a module's name to its index; 0: the kernel itself. The index of each symbol's module is
  // stored in `enclosing`, which is unused until Build.
  absl::flat_hash_map<std::string_view, uint32_t> index_of = {{"", 0}};
  // Most lines are longer. Memory that stays unused costs nothing.
  constexpr size_t kShortLine = 24;
  builder.Reserve(text.size() / kShortLine);
  bool all_zero = true;
  bool any = false;
  uint32_t module = 0;
  std::string_view name_of_module;
  const char* const names = reinterpret_cast<const char*>(text.data());
  LineParser parser(text);
  for (LineParser::Line line; parser.Next(line);) {
    any = true;
    if (line.address != 0) all_zero = false;
    const std::string_view name = names + line.name;
    if (!Counts(line.type, name)) continue;
    if (name == "_text") result.text_ = line.address;
    if (name == "_stext") result.stext_ = line.address;
    if (name == "__sched_text_start") result.scheduler_.start = line.address;
    if (name == "__sched_text_end") result.scheduler_.end = line.address;
    if (name_of_module != line.module) {
      name_of_module = line.module;
      const auto next = static_cast<uint32_t>(index_of.size());
      module = index_of.try_emplace(name_of_module, next).first->second;
    }
    if (!line.module.empty() && IsFunction(line.type)) {
      const auto [first, is_new] =
          result.modules_.try_emplace(std::string(line.module), line.address);
      if (!is_new) first->second = std::min(first->second, line.address);
    }
    Symbol symbol;
    symbol.start = line.address;
    symbol.end = line.address;
    symbol.name = line.name;
    symbol.enclosing = module;
    symbol.area = NameArea::kOwned;
    symbol.binding = BindingOf(line.type);
    builder.Add(symbol);
  }
  result.restricted_ = any && all_zero;
  if (result.restricted_) return result;
  builder.OwnNames(std::move(text));
  builder.FixUp([](const Symbol& symbol, const Symbol& next) {
    if (symbol.enclosing == next.enclosing) return next.start;
    return (symbol.start + kPage + kPage - 1) & ~(kPage - 1);
  });
  result.table_ = builder.Build();
  return result;
}

uint64_t KernelSymbols::ReferenceAddress(std::string_view name) const {
  if (name == "_text") return text_;
  return name == "_stext" ? stext_ : 0;
}

uint64_t KernelSymbols::FirstOfModule(std::string_view name) const {
  const auto found = modules_.find(absl::string_view(name.data(), name.size()));
  return found == modules_.end() ? 0 : found->second;
}

}  // namespace profiler::symbolize

#include "symbolize/hotspot/methods.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "symbolize/hotspot/compressed.h"

namespace profiler::symbolize::hotspot {
namespace {

std::string WithDots(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, '/', '.');
  return dotted;
}

// Formats a class name. The hidden class "pkg/C+0x…" is "pkg.C/0x…" in Java.
std::string ClassName(std::string_view name) {
  std::string shown = WithDots(name);
  const size_t hidden = shown.rfind("+0x");
  if (hidden != std::string::npos) shown[hidden] = '/';
  return shown;
}

std::string_view PrimitiveType(char code) {
  switch (code) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'V':
      return "void";
    case 'Z':
      return "boolean";
    default:
      return {};
  }
}

// Removes the first type from a descriptor and returns it; empty: there is none.
std::string TakeType(std::string_view& descriptor) {
  size_t dimensions = 0;
  while (dimensions < descriptor.size() && descriptor[dimensions] == '[') ++dimensions;
  descriptor.remove_prefix(dimensions);
  if (descriptor.empty()) return {};
  std::string type;
  if (descriptor.front() == 'L') {
    const size_t end = descriptor.find(';');
    if (end == std::string_view::npos) return {};
    type = WithDots(descriptor.substr(1, end - 1));
    descriptor.remove_prefix(end + 1);
  } else {
    type = PrimitiveType(descriptor.front());
    descriptor.remove_prefix(1);
  }
  if (type.empty()) return {};
  for (size_t i = 0; i < dimensions; ++i) type += "[]";
  return type;
}

// Decodes the line table after the bytecodes. Each byte has 5 bits that increase the bci and 3 bits
// that increase the line. After the byte 0xff, two signed numbers follow instead; the byte 0 ends
// the table. Returns false if the table continues beyond `table`. Source:
// CompressedLineNumberReadStream::read_pair, oops/method.cpp.
bool DecodeLines(std::span<const std::byte> table, int version, Method& method) {
  CompressedReader reader(table, version);
  uint32_t bci = 0, line = 0;
  while (const auto next = reader.Byte()) {
    if (*next == 0) return true;
    if (*next == 0xff) {
      const auto bcis = reader.Signed(), lines = reader.Signed();
      if (!bcis || !lines) return false;
      bci += static_cast<uint32_t>(*bcis);
      line += static_cast<uint32_t>(*lines);
    } else {
      bci += *next >> 3;
      line += *next & 7;
    }
    if (bci >= method.code.size() || line > 0xffff) return true;
    method.lines.push_back({bci, line});
  }
  return false;
}

}  // namespace

std::string MethodName(std::string_view holder, std::string_view name,
                       std::string_view descriptor) {
  if (holder.empty() || name.empty() || !descriptor.starts_with('(')) return {};
  descriptor.remove_prefix(1);
  std::string parameters;
  while (!descriptor.empty() && descriptor.front() != ')') {
    const std::string type = TakeType(descriptor);
    if (type.empty()) return {};
    if (!parameters.empty()) parameters += ", ";
    parameters += type;
  }
  if (descriptor.empty()) return {};
  descriptor.remove_prefix(1);
  const std::string result = TakeType(descriptor);
  if (result.empty() || !descriptor.empty()) return {};
  return Printable(result + ' ' + ClassName(holder) + '.' + std::string(name) + '(' + parameters +
                   ')');
}

uint32_t Method::LineAt(uint32_t bci) const {
  const auto after =
      std::ranges::partition_point(lines, [bci](const Line& line) { return line.bci <= bci; });
  return after == lines.begin() ? 0 : (after - 1)->line;
}

const Methods::Known* Methods::Find(uint64_t address) {
  if (address == 0 || address % kWord != 0) return nullptr;
  const auto found = known_.find(address);
  if (found != known_.end() && found->second.look == look_) return &found->second;
  const std::optional<Texts> texts = ReadTexts(memory_, address);
  if (!texts) return nullptr;
  std::string print = PrintOf(*texts);
  if (found != known_.end() && found->second.print == print) {
    found->second.look = look_;
    return &found->second;
  }
  std::optional<Method> method = Read(*texts);
  if (!method) return nullptr;
  // Reads the texts again, because another method may have replaced this one meanwhile.
  again_.Forget();
  const std::optional<Texts> now = ReadTexts(again_, address);
  if (!now || PrintOf(*now) != print) return nullptr;
  if (known_.size() >= kMostMethods) known_.clear();
  Known& known = known_[address];
  known = {*std::move(method), ++last_number_, look_, again_.Now(), std::move(print)};
  return &known;
}

std::optional<Methods::Texts> Methods::ReadTexts(ProcessMemory& memory, uint64_t address) {
  const auto const_method = memory.Value<uint64_t>(address + layout_.method_const);
  if (!const_method || *const_method == 0 || *const_method % kWord != 0) return std::nullopt;
  const auto pool = memory.Value<uint64_t>(*const_method + layout_.const_constants);
  const auto size = memory.Value<uint16_t>(*const_method + layout_.const_code_size);
  const auto name = memory.Value<uint16_t>(*const_method + layout_.const_name);
  const auto signature = memory.Value<uint16_t>(*const_method + layout_.const_signature);
  if (!pool || *pool == 0 || *pool % kWord != 0 || !size || !name || !signature) {
    return std::nullopt;
  }
  const auto entries = memory.Value<uint32_t>(*pool + layout_.pool_length);
  const auto holder = memory.Value<uint64_t>(*pool + layout_.pool_holder);
  if (!entries || !holder || *holder == 0) return std::nullopt;
  const auto holder_name = memory.Value<uint64_t>(*holder + layout_.klass_name);
  if (!holder_name) return std::nullopt;
  auto holder_text = ReadSymbol(memory, *holder_name);
  auto name_text = SymbolAt(memory, *pool, *entries, *name);
  auto signature_text = SymbolAt(memory, *pool, *entries, *signature);
  if (!holder_text || !name_text || !signature_text) return std::nullopt;
  Texts texts{.const_method = *const_method,
              .pool = *pool,
              .code_size = *size,
              .holder = *std::move(holder_text),
              .name = *std::move(name_text),
              .signature = *std::move(signature_text)};
  if (layout_.pool_source_file) {
    const auto file = memory.Value<uint16_t>(*pool + *layout_.pool_source_file);
    if (file && *file != 0) texts.file = SymbolAt(memory, *pool, *entries, *file).value_or("");
  }
  return texts;
}

// Joins the texts with NULs, which no text contains.
std::string Methods::PrintOf(const Texts& texts) {
  std::string print = absl::StrCat(texts.const_method, " ", texts.pool, " ", texts.code_size);
  for (const std::string* const text :
       {&texts.holder, &texts.name, &texts.signature, &texts.file}) {
    print += '\0';
    print += *text;
  }
  return print;
}

std::optional<Method> Methods::Read(const Texts& texts) {
  Method method;
  method.const_method = texts.const_method;
  method.bytecodes = texts.const_method + layout_.const_size;
  method.name = MethodName(texts.holder, texts.name, texts.signature);
  if (method.name.empty()) return std::nullopt;
  method.file = Printable(texts.file);
  method.code.resize(texts.code_size);
  if (!memory_.Read(method.bytecodes, method.code)) return std::nullopt;
  ReadLines(method);
  return method;
}

std::optional<std::string> Methods::SymbolAt(ProcessMemory& memory, uint64_t pool, uint32_t entries,
                                             uint32_t index) {
  constexpr uint32_t kMostEntries = 1 << 16;
  if (entries > kMostEntries || index == 0 || index >= entries) return std::nullopt;
  const auto symbol = memory.Value<uint64_t>(pool + layout_.pool_size + index * kWord);
  return symbol ? ReadSymbol(memory, *symbol) : std::nullopt;
}

std::optional<std::string> Methods::ReadSymbol(ProcessMemory& memory, uint64_t symbol) {
  constexpr uint16_t kLongest = 4096;
  if (symbol == 0) return std::nullopt;
  const auto length = memory.Value<uint16_t>(symbol + layout_.symbol_length);
  if (!length || *length == 0 || *length > kLongest) return std::nullopt;
  std::string text(*length, '\0');
  if (!memory.Read(symbol + layout_.symbol_body, std::as_writable_bytes(std::span(text)))) {
    return std::nullopt;
  }
  if (text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

// Reads in pieces, because the length of the table is unknown and memory after it may be
// unreadable.
void Methods::ReadLines(Method& method) {
  constexpr size_t kPiece = 256, kMost = 1 << 16;
  if (!layout_.const_flags || layout_.has_lines == 0 || method.code.empty()) return;
  const auto flags = memory_.Value<uint16_t>(method.const_method + *layout_.const_flags);
  if (!flags || (*flags & layout_.has_lines) == 0) return;
  const uint64_t start = method.bytecodes + method.code.size();
  std::vector<std::byte> table;
  while (table.size() < kMost) {
    const size_t before = table.size();
    const uint64_t from = start + before;
    table.resize(before + std::max(before, kPiece) - from % kPiece);
    if (!memory_.Read(from, std::span(table).subspan(before))) return;
    method.lines.clear();
    if (DecodeLines(table, layout_.version, method)) break;
  }
  std::ranges::stable_sort(method.lines, {}, &Method::Line::bci);
}

}  // namespace profiler::symbolize::hotspot

#include "symbolize/symbols/rust_demangle.h"

#include <cstdint>
#include <vector>

#include "symbolize/symbols/llvm_demangle.h"

namespace profiler::symbolize {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Reads a decimal length and that many characters: `3foo`.
std::optional<std::string_view> ConsumeIdentifier(std::string_view& text) {
  size_t length = 0;
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) {
    length = length * 10 + static_cast<size_t>(text[digits++] - '0');
    if (length > text.size()) return std::nullopt;
  }
  if (digits == 0 || text.size() - digits < length || length == 0) return std::nullopt;
  const std::string_view identifier = text.substr(digits, length);
  text.remove_prefix(digits + length);
  return identifier;
}

bool IsHash(std::string_view identifier) {
  if (identifier.size() != 17 || identifier[0] != 'h') return false;
  return identifier.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// Appends the text of an escape between two dollars: a two-letter name, or `u` and a hexadecimal
// code point.
bool AppendEscape(std::string_view escape, std::string& out) {
  static constexpr struct {
    std::string_view name;
    char text;
  } kEscapes[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
                  {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
  for (const auto& known : kEscapes) {
    if (escape == known.name) {
      out.push_back(known.text);
      return true;
    }
  }
  if (escape.size() < 2 || escape.size() > 7 || escape[0] != 'u') return false;
  uint32_t code = 0;
  for (char c : escape.substr(1)) {
    if (!IsLowerHex(c)) return false;
    code = code * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
  }
  if (code < 0x20 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  AppendUtf8(code, out);
  return true;
}

// Appends `_$LT$impl$u20$Foo..Bar$GT$` as `<impl Foo::Bar>`. Invalid escapes remain unchanged.
void AppendLegacyIdentifier(std::string_view identifier, std::string& out) {
  if (identifier.starts_with("_$")) identifier.remove_prefix(1);
  while (!identifier.empty()) {
    if (ConsumePrefix(identifier, "..")) {
      out += "::";
      continue;
    }
    if (identifier[0] == '$') {
      const size_t close = identifier.find('$', 1);
      if (close == std::string_view::npos || !AppendEscape(identifier.substr(1, close - 1), out)) {
        out += identifier;
        return;
      }
      identifier.remove_prefix(close + 1);
      continue;
    }
    out.push_back(identifier[0]);
    identifier.remove_prefix(1);
  }
}

// Removes `.llvm.` and all that follows it, which means nothing to a reader.
std::string_view WithoutLlvmSuffix(std::string_view name) {
  const size_t suffix = name.find(".llvm.");
  return suffix == std::string_view::npos ? name : name.substr(0, suffix);
}

std::optional<std::string> DemangleLegacy(std::string_view name) {
  if (!ConsumePrefix(name, "_ZN")) return std::nullopt;
  name = WithoutLlvmSuffix(name);
  std::vector<std::string_view> identifiers;
  while (!ConsumePrefix(name, "E")) {
    const auto identifier = ConsumeIdentifier(name);
    if (!identifier) return std::nullopt;
    identifiers.push_back(*identifier);
  }
  if (identifiers.size() < 2 || !IsHash(identifiers.back())) return std::nullopt;
  if (!name.empty() && name[0] != '.') return std::nullopt;
  identifiers.pop_back();
  std::string out;
  for (std::string_view identifier : identifiers) {
    if (!out.empty()) out += "::";
    AppendLegacyIdentifier(identifier, out);
  }
  out += name;
  return out;
}

std::optional<std::string> DemangleV0(std::string_view name) {
  if (!name.starts_with("_R")) return std::nullopt;
  name = WithoutLlvmSuffix(name);
  // llvm::rustDemangle would write a suffix as ` (.suffix)`; this keeps it unchanged.
  const std::string_view mangled = name.substr(0, name.find('.'));
  const DemangledText text = CallDemangler(llvm::rustDemangle, std::string(mangled));
  if (text == nullptr) return std::nullopt;
  std::string out(text.get());
  out += name.substr(mangled.size());
  return out;
}

}  // namespace

std::optional<std::string> DemangleRust(std::string_view name) {
  if (auto legacy = DemangleLegacy(name)) return legacy;
  return DemangleV0(name);
}

}  // namespace profiler::symbolize

#include "src/analysis/name_rules.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace profiler::analysis {

using profile::ImageId;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::Symbol;
using profile::SymbolId;

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr int kDeepest = 200;  // nesting of brackets; deeper parts stay unchanged

bool IsNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '\'' || static_cast<unsigned char>(c) >= 0x80;
}

// Returns the longest symbol of an overloaded operator at the beginning of `text`.
std::string_view OperatorSymbol(std::string_view text) {
  constexpr std::array<std::string_view, 41> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",   "!=", "&&",
      "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",    ">",  "+",
      "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  ",",  "\"\"", " "};
  for (const std::string_view symbol : kSymbols) {
    if (text.starts_with(symbol)) return symbol;
  }
  return {};
}

// Returns the length of an operator's name at `at`, so that its brackets are not counted as
// brackets; 0 if there is no operator. The name "operator " of a conversion, or of new and delete,
// ends with the space.
size_t OperatorLength(std::string_view name, size_t at) {
  constexpr std::string_view kOperator = "operator";
  if (!name.substr(at).starts_with(kOperator)) return 0;
  if (at > 0 && IsNameLetter(name[at - 1])) return 0;
  const std::string_view symbol = OperatorSymbol(name.substr(at + kOperator.size()));
  return symbol.empty() ? 0 : kOperator.size() + symbol.size();
}

bool IsConversion(std::string_view operator_name) { return operator_name.ends_with(' '); }

// Returns the closing position of each bracket, by its opening position; 0: not a bracket, or never
// closed.
std::vector<uint32_t> MatchBrackets(std::string_view name) {
  std::vector<uint32_t> closes(name.size(), 0);
  std::vector<uint32_t> open;
  const auto close = [&](char opener, size_t at) {
    // In parentheses `<` and `>` may be comparisons, which are not closed.
    size_t depth = open.size();
    while (depth > 0 && name[open[depth - 1]] != opener) --depth;
    if (depth == 0) return;
    closes[open[depth - 1]] = static_cast<uint32_t>(at);
    open.resize(depth - 1);
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (const size_t length = OperatorLength(name, i)) {
      i += length - 1;
      continue;
    }
    switch (name[i]) {
      case '<':
        if (i > 0 && (name[i - 1] == ')' || name[i - 1] == '<')) break;  // a comparison or a shift
        [[fallthrough]];
      case '(':
      case '[':
      case '{':
        open.push_back(static_cast<uint32_t>(i));
        break;
      case '>':
        if (i > 0 && name[i - 1] == '-') break;
        if (!open.empty() && name[open.back()] == '<') close('<', i);
        break;
      case ')':
        close('(', i);
        break;
      case ']':
        close('[', i);
        break;
      case '}':
        close('{', i);
        break;
      default:
        break;
    }
  }
  return closes;
}

class Simplifier {
 public:
  Simplifier(std::string_view name, const NameRules& rules)
      : name_(name), rules_(rules), closes_(MatchBrackets(name)) {}

  std::string Simplify() {
    Write(0, name_.size(), 0, 0);
    while (out_.ends_with(' ')) out_.pop_back();
    return std::move(out_);
  }

 private:
  // Appends name_[at, end), which lies within `templates` template argument lists and `depth`
  // brackets.
  void Write(size_t at, size_t end, uint32_t templates, int depth) {
    while (at < end) {
      if (const size_t length = OperatorLength(name_, at)) {
        at = WriteOperator(at, length);
        continue;
      }
      const char c = name_[at];
      const size_t close = closes_[at];
      if (close == 0 || close >= end || depth > kDeepest) {
        out_ += c;
        if (c == ' ' && depth == 0) EndWord();
        ++at;
        continue;
      }
      if (c == '(' && depth == 0 && rules_.strip_args && IsParameterList(at)) {
        DropReturnType();
        at = AfterQualifiers(close + 1, end);
        continue;
      }
      const bool arguments = c == '<' && IsArgumentList(at);
      if (arguments && rules_.fold_templates && templates >= *rules_.fold_templates) {
        out_ += "<...>";
      } else {
        out_ += c;
        Write(at + 1, close, templates + (arguments ? 1 : 0), depth + 1);
        out_ += name_[close];
      }
      at = close + 1;
    }
  }

  size_t WriteOperator(size_t at, size_t length) {
    const std::string_view text = name_.substr(at, length);
    out_ += text;
    if (IsConversion(text)) in_conversion_ = true;
    at += length;
    // Demanglers put a space between operator< and its template arguments.
    if (name_.substr(at).starts_with(" <")) {
      out_ += ' ';
      ++at;
    }
    after_operator_ = at;
    return at;
  }

  // Notes the end of a word. A space outside of all brackets ends a return type, unless it is in a
  // name.
  void EndWord() {
    if (in_conversion_) return;
    const bool prefix = out_.ends_with(" for ") || out_.ends_with(" to ");
    name_start_ = prefix                             ? std::string::npos
                  : name_start_ == std::string::npos ? name_start_
                                                     : out_.size();
  }

  void DropReturnType() {
    if (!dropped_ && name_start_ != std::string::npos) out_.erase(0, name_start_);
    dropped_ = true;
    in_conversion_ = false;
  }

  bool IsParameterList(size_t at) const {
    if (at == 0 || name_.substr(at).starts_with(kAnonymous)) return false;
    if (name_.substr(0, at).ends_with("decltype")) return false;
    const char before = name_[at - 1];
    return at == after_operator_ || IsNameLetter(before) || before == '>' || before == ']' ||
           before == '}';
  }

  // True if the '<' opens an argument list, and not Rust's `<T as Trait>`.
  bool IsArgumentList(size_t at) const {
    if (at == 0) return false;
    const char before = name_[at - 1];
    return at == after_operator_ || IsNameLetter(before) || before == ']' || before == '}' ||
           before == ':';
  }

  // Returns the end of the qualifiers that follow parameters (" const", " &&"). Clone suffixes are
  // not qualifiers.
  size_t AfterQualifiers(size_t at, size_t end) const {
    while (at < end) {
      const std::string_view rest = name_.substr(at);
      if (rest.starts_with("::") || rest.starts_with(" [clone ") || rest.starts_with("@plt")) {
        return at;
      }
      at = closes_[at] != 0 ? closes_[at] + 1 : at + 1;
    }
    return end;
  }

  const std::string_view name_;
  const NameRules& rules_;
  const std::vector<uint32_t> closes_;
  std::string out_;
  size_t name_start_ = 0;  // index in out_; npos: no return type precedes the name
  size_t after_operator_ = std::string_view::npos;
  bool in_conversion_ = false;
  bool dropped_ = false;
};

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Removes the suffixes of clones from "parse.part.0.isra.0" and "f(int) [clone .part.0] [clone
// .cold]".
std::string_view WithoutCloneSuffix(std::string_view name) {
  constexpr std::array<std::string_view, 14> kPasses = {
      "isra",  "part",   "constprop", "cold",    "llvm",    "lto_priv", "localalias",
      "clone", "__uniq", "__part",    "argprom", "argelim", "retelim",  "memprof"};
  for (;;) {
    std::string_view rest = name;
    if (rest.ends_with(']')) {
      const size_t clone = rest.rfind(" [clone .");
      if (clone == std::string_view::npos || clone == 0) return name;
      name = rest.substr(0, clone);
      continue;
    }
    size_t dot = rest.rfind('.');
    while (dot != std::string_view::npos && AllDigits(rest.substr(dot + 1))) {
      rest = rest.substr(0, dot);
      dot = rest.rfind('.');
    }
    if (dot == std::string_view::npos || dot == 0) return name;
    if (std::find(kPasses.begin(), kPasses.end(), rest.substr(dot + 1)) == kPasses.end()) {
      return name;
    }
    name = rest.substr(0, dot);
  }
}

}  // namespace

std::string SimplifiedName(std::string_view name, const NameRules& rules) {
  if (rules.merge_clones) name = WithoutCloneSuffix(name);
  const bool has_brackets = name.find_first_of("<(") != std::string_view::npos;
  if (!has_brackets || !(rules.strip_args || rules.fold_templates)) return std::string(name);
  return Simplifier(name, rules).Simplify();
}

void SimplifyNames(Profile& profile, const NameRules& rules) {
  if (!rules.any()) return;
  absl::flat_hash_map<std::pair<StringId, ImageId>, SymbolId> first;
  std::vector<SymbolId> merged;
  merged.reserve(profile.symbols.size());
  for (uint32_t i = 0; i < profile.symbols.size(); ++i) {
    Symbol& symbol = profile.symbols[i];
    symbol.name = profile.strings.Intern(SimplifiedName(profile.text(symbol.name), rules));
    merged.push_back(first.try_emplace({symbol.name, symbol.image}, SymbolId{i}).first->second);
  }
  for (Line& line : profile.lines) {
    if (line.symbol != kNoSymbol) line.symbol = merged[static_cast<uint32_t>(line.symbol)];
  }
}

}  // namespace profiler::analysis

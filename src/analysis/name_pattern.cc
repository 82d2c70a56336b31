#include "src/analysis/name_pattern.h"

#include <regex.h>

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::analysis {

struct NamePattern::Expression {
  Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (is_compiled) regfree(&compiled);
  }

  regex_t compiled{};
  bool is_compiled = false;
};

absl::StatusOr<NamePattern> NamePattern::Parse(std::string_view pattern) {
  auto expression = std::make_shared<Expression>();
  const int error =
      regcomp(&expression->compiled, std::string(pattern).c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    char reason[256];
    regerror(error, &expression->compiled, reason, sizeof(reason));
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(pattern), "' is not a regular expression: ", reason));
  }
  expression->is_compiled = true;
  NamePattern parsed;
  parsed.expression_ = std::move(expression);
  return parsed;
}

bool NamePattern::Matches(std::string_view name) const {
  return regexec(&expression_->compiled, std::string(name).c_str(), 0, nullptr, 0) == 0;
}

std::vector<bool> FramesOf(const NamePattern& pattern, const profile::Profile& profile) {
  std::vector<bool> symbols;
  symbols.reserve(profile.symbols.size());
  for (const profile::Symbol& symbol : profile.symbols) {
    symbols.push_back(pattern.Matches(profile.text(symbol.name)));
  }
  std::vector<bool> frames;
  frames.reserve(profile.frames.size());
  for (const profile::Frame& frame : profile.frames) {
    const auto lines = profile.LinesOf(frame);
    const bool named = !lines.empty() && lines.back().symbol != profile::kNoSymbol;
    frames.push_back(named && symbols[static_cast<uint32_t>(lines.back().symbol)]);
  }
  return frames;
}

}  // namespace profiler::analysis

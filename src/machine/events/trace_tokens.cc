#include "src/machine/events/trace_tokens.h"

#include "absl/strings/ascii.h"

namespace profiler::events {
namespace {

bool IsItem(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsPrintable(char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); }
bool IsSpace(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

}  // namespace

TraceToken TraceTokens::Next() {
  SkipSpaces();
  if (at_ == text_.size()) return {};
  const char c = text_[at_];
  if (c == '"') return String();
  if (c == '\'' || !IsPrintable(c)) return {TraceToken::Kind::kInvalid, ""};
  if (c == '(' || c == ')' || c == ',') {
    ++at_;
    return {TraceToken::Kind::kDelimiter, std::string(1, c)};
  }
  if (!IsItem(c)) return Operator();
  const size_t start = at_;
  while (at_ < text_.size() && IsItem(text_[at_])) ++at_;
  return {TraceToken::Kind::kItem, std::string(text_.substr(start, at_ - start))};
}

// Refuses "\\", after which libtraceevent misses the closing quote.
TraceToken TraceTokens::String() {
  TraceToken token{TraceToken::Kind::kString, ""};
  do {
    ++at_;
    for (; Peek() != '"'; ++at_) {
      if (!IsPrintable(Peek())) return {TraceToken::Kind::kInvalid, ""};
      if (Peek() == '\\') {
        token.text += text_[at_++];
        if (!IsPrintable(Peek()) || Peek() == '\\') return {TraceToken::Kind::kInvalid, ""};
      }
      token.text += text_[at_];
    }
    ++at_;
    SkipSpaces();
  } while (Peek() == '"');
  return token;
}

TraceToken TraceTokens::Operator() {
  const char first = text_[at_++];
  TraceToken token{TraceToken::Kind::kOperator, std::string(1, first)};
  const auto take = [&](char c) {
    if (Peek() != c) return false;
    ++at_;
    token.text += c;
    return true;
  };
  switch (first) {
    case '-':
      if (take('>')) break;
      [[fallthrough]];
    case '+':
    case '|':
    case '&':
      if (!take(first)) take('=');
      break;
    case '<':
    case '>':
      take(first);
      take('=');
      break;
    case '!':
    case '=':
      take('=');
      break;
    default:
      break;
  }
  return token;
}

void TraceTokens::SkipSpaces() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

}  // namespace profiler::events

// Splits the print format of a tracepoint into tokens, as libtraceevent does:
//
//   "%s pid=%d", REC->comm, REC->pid
//    └──────┘  │ └┬┘ └┤
//    string    │ item operator
//          delimiter

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::events {

struct TraceToken {
  enum class Kind : uint8_t {
    kEnd,
    kItem,       // a name or a number
    kString,     // text between quotes, with its escapes; adjacent strings are one
    kDelimiter,  // ( ) ,
    kOperator,   // any other printable characters: + == -> { …
    kInvalid,    // libtraceevent treats it in a way that depends on its version
  };
  Kind kind = Kind::kEnd;
  std::string text;

  bool IsDelimiter(char c) const {
    return kind == Kind::kDelimiter && text.size() == 1 && text[0] == c;
  }
  bool IsOperator(std::string_view op) const { return kind == Kind::kOperator && text == op; }
};

// A reader of tokens. The text must outlive it.
class TraceTokens {
 public:
  explicit TraceTokens(std::string_view text) : text_(text) {}

  TraceToken Next();
  // Returns the text after the last token.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  TraceToken String();
  TraceToken Operator();
  void SkipSpaces();
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace profiler::events

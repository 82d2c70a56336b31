#include "src/machine/events/event_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {
namespace {

constexpr std::string_view kModifiers = "ukhHGpPSDIWeb";

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-.*?[]!").find(c) != std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<EventGroup>> List() {
    std::vector<EventGroup> groups;
    do {
      PROFILER_ASSIGN_OR_RETURN(groups.emplace_back(), Item());
    } while (Take(','));
    if (!AtEnd()) return Error(absl::StrCat("unexpected '", std::string(1, text_[at_]), "'"));
    return groups;
  }

 private:
  absl::StatusOr<EventGroup> Item() {
    EventGroup group;
    SkipSpaces();
    const size_t start = at_;
    group.name = TakeWord();
    if (Peek() != '{') {
      at_ = start;
      group.name.clear();
      PROFILER_ASSIGN_OR_RETURN(group.events.emplace_back(), Event());
      return group;
    }
    ++at_;
    group.in_braces = true;
    do {
      PROFILER_ASSIGN_OR_RETURN(group.events.emplace_back(), Event());
    } while (Take(','));
    if (!Take('}')) return Error("the '}' of a group is missing");
    if (Take(':')) {
      PROFILER_ASSIGN_OR_RETURN(group.modifiers, TakeModifiers());
    }
    SkipSpaces();
    return group;
  }

  absl::StatusOr<EventText> Event() {
    SkipSpaces();
    EventText event;
    event.position = at_;
    PROFILER_RETURN_IF_ERROR(WhatAndModifiers(&event));
    event.text = text_.substr(event.position, at_ - event.position);
    SkipSpaces();
    return event;
  }

  absl::Status WhatAndModifiers(EventText* event) {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("mem:")) return BreakpointEvent(event);
    if (rest.starts_with("kprobe:")) return ProbeEvent(event);
    if (rest.starts_with('%')) return NamedProbeEvent("", event);
    if (rest.starts_with('/') || rest.starts_with("./") || rest.starts_with("../")) {
      return ProbeEvent(event);
    }
    return NamedEvent(event);
  }

  // Parses an event that begins with a word.
  absl::Status NamedEvent(EventText* event) {
    const std::string word = TakeWord();
    if (word.empty()) {
      return Error(
          AtEnd() ? "an event's name is missing"
                  : absl::StrCat("no event's name begins with '", std::string(1, text_[at_]), "'"));
    }
    if (const auto type = NumberOf(word); type && Peek() == ':') {
      PROFILER_RETURN_IF_ERROR(TypeAndConfig(*type, event));
    } else if (const auto config = RawConfig(word)) {
      event->what = NumberedEvent{.type = perf_event::kTypeRaw, .config = *config};
    } else if (IsTracepoint(word)) {
      ++at_;
      event->what = TracepointEvent{.system = word, .name = TakeWord()};
    } else {
      event->what = Word{word};
    }
    if (Peek() == '/') return TermsAndModifiers(word, event);
    if (Take(':')) return ModifiersOf(event);
    return absl::OkStatus();
  }

  absl::Status TypeAndConfig(uint64_t type, EventText* event) {
    if (type > UINT32_MAX) return Error("TYPE:CONFIG: unknown type");
    ++at_;
    NumberedEvent numbered{.type = static_cast<uint32_t>(type)};
    PROFILER_RETURN_IF_ERROR(TakeNumber("the number after TYPE:", &numbered.config));
    event->what = numbered;
    return absl::OkStatus();
  }

  // True if the colon is between a tracepoint's system and name. After the name of a generic event,
  // and before modifier letters only, a colon introduces modifiers.
  bool IsTracepoint(std::string_view word) const {
    if (Peek() != ':') return false;
    size_t end = at_ + 1;
    while (end < text_.size() && IsWordCharacter(text_[end])) ++end;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (name.empty() || perf_event::FindKnownEvent(word).has_value()) return false;
    return IsPattern(word) || name.find_first_not_of(kModifiers) != std::string_view::npos;
  }

  absl::Status TermsAndModifiers(const std::string& word, EventText* event) {
    const size_t opening = at_++;
    if (!Take('/')) {
      do {
        PROFILER_ASSIGN_OR_RETURN(event->terms.emplace_back(), OneTerm());
      } while (Take(','));
      if (!Take('/')) {
        if (!AtEnd()) {
          return Error(absl::StrCat("no term has a '", std::string(1, text_[at_]), "' here"));
        }
        at_ = opening;
        return Error("the '/' after the terms is missing");
      }
    }
    const bool names_event = std::holds_alternative<Word>(event->what);
    if (names_event && !perf_event::FindKnownEvent(word).has_value()) event->what = PmuEvent{word};
    Take(':');
    if (AtEnd() || !absl::ascii_isalpha(static_cast<unsigned char>(Peek()))) {
      return absl::OkStatus();
    }
    return ModifiersOf(event);
  }

  absl::StatusOr<Term> OneTerm() {
    Term term;
    term.position = at_;
    term.name = TakeWord();
    if (term.name.empty()) return Error("a term's name is missing");
    if (!Take('=')) return term;
    term.has_value = true;
    term.value_position = at_;
    PROFILER_ASSIGN_OR_RETURN(term.value, TermValue());
    return term;
  }

  // Parses a value that ends before the next comma or slash, or a quoted value with any characters.
  absl::StatusOr<std::string> TermValue() {
    const char quote = Peek();
    if (quote == '\'' || quote == '"') {
      const size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) return Error("the quote is not closed");
      std::string value(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return value;
    }
    const size_t end = std::min(text_.find_first_of(",/{}", at_), text_.size());
    std::string value(text_.substr(at_, end - at_));
    if (value.empty()) return Error("a term's value is missing");
    at_ = end;
    return value;
  }

  // Parses a breakpoint. Like perf, defaults to reads and writes of 4 bytes.
  absl::Status BreakpointEvent(EventText* event) {
    Breakpoint breakpoint{.length = 4, .accesses = 3};
    at_ += std::string_view("mem:").size();
    PROFILER_RETURN_IF_ERROR(TakeNumber("the breakpoint's address", &breakpoint.address));
    const bool has_length = Take('/');
    if (has_length) {
      PROFILER_RETURN_IF_ERROR(TakeNumber("the breakpoint's length", &breakpoint.length));
    }
    if (Peek() == ':') TakeAccesses(&breakpoint);
    // For an execution breakpoint, the kernel accepts only the length sizeof(long).
    if (breakpoint.accesses == perf_event::kBreakpointExecute && !has_length) {
      breakpoint.length = sizeof(long);
    }
    event->what = breakpoint;
    return Take(':') ? ModifiersOf(event) : absl::OkStatus();
  }

  // Takes the letters r, w and x after the colon. Takes nothing if other letters follow directly,
  // because then all of them are modifiers.
  void TakeAccesses(Breakpoint* breakpoint) {
    const size_t end = std::min(text_.find_first_not_of("rwx", at_ + 1), text_.size());
    const std::string_view letters = text_.substr(at_ + 1, end - at_ - 1);
    if (letters.empty() || (end < text_.size() && IsWordCharacter(text_[end]))) return;
    breakpoint->accesses = 0;
    for (const auto& [letter, bit] : perf_event::kBreakpointAccesses) {
      if (letters.find(letter) != std::string_view::npos) breakpoint->accesses |= bit;
    }
    at_ = end;
  }

  absl::Status ProbeEvent(EventText* event) {
    Probe probe;
    const size_t colon = text_.find(':', at_);
    const size_t path_end = std::min(text_.find_first_of(":,{}", at_), text_.size());
    if (path_end != colon) {
      at_ = path_end;
      return Error("the ':' and a symbol after the program's path are missing");
    }
    if (text_[at_] != 'k') probe.path = text_.substr(at_, colon - at_);
    at_ = colon + 1;
    if (Peek() == '%' && !probe.path.empty()) return NamedProbeEvent(probe.path, event);
    probe.symbol = TakeSymbol();
    if (probe.symbol.empty()) return Error("a symbol is missing");
    if (Take('+')) PROFILER_RETURN_IF_ERROR(TakeNumber("the offset", &probe.offset));
    probe.at_return = TakeString("%return");
    event->what = std::move(probe);
    return Take(':') ? ModifiersOf(event) : absl::OkStatus();
  }

  // Parses %PROVIDER:NAME. Like perf, also accepts %sdt_PROVIDER:NAME.
  absl::Status NamedProbeEvent(const std::string& path, EventText* event) {
    ++at_;
    NamedProbe probe{.path = path, .provider = TakeWord()};
    if (probe.provider.empty() || !Take(':')) return Error("%PROVIDER:NAME is expected");
    probe.name = TakeWord();
    if (probe.name.empty()) return Error("%PROVIDER: is followed by the name of a static probe");
    event->what = std::move(probe);
    return Take(':') ? ModifiersOf(event) : absl::OkStatus();
  }

  // Takes a symbol in the linker's spelling or demangled. "::" and text in parentheses or angle
  // brackets belong to the symbol. A "+" with a number after it ends the symbol.
  std::string TakeSymbol() {
    const size_t start = at_;
    int depth = 0;
    for (; !AtEnd(); ++at_) {
      const char c = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (c == '(' || c == '<') ++depth;
      if ((c == ')' || c == '>') && depth > 0) --depth;
      if (depth > 0) continue;
      if (c == ':' && next == ':') {
        ++at_;
        continue;
      }
      if (c == ',' || c == '{' || c == '}' || c == ':' || c == '%') break;
      if (c == '+' && absl::ascii_isdigit(static_cast<unsigned char>(next))) break;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  absl::Status ModifiersOf(EventText* event) {
    PROFILER_ASSIGN_OR_RETURN(event->modifiers, TakeModifiers());
    return absl::OkStatus();
  }

  // Takes the letters of modifiers. Like perf, accepts a colon without letters.
  absl::StatusOr<Modifiers> TakeModifiers() {
    Modifiers modifiers{.position = at_};
    for (; !AtEnd() && IsWordCharacter(Peek()); ++at_) {
      const char letter = Peek();
      if (kModifiers.find(letter) == std::string_view::npos) {
        std::string known;
        for (const char c : kModifiers) absl::StrAppend(&known, " ", std::string(1, c));
        return Error(absl::StrCat("no modifier '", std::string(1, letter), "': use", known));
      }
      const auto stands = static_cast<size_t>(
          std::count(modifiers.letters.begin(), modifiers.letters.end(), letter));
      if (letter == 'p' && stands == 3) return Error("at most three 'p' are allowed");
      if (letter != 'p' && stands == 1) {
        return Error(absl::StrCat("modifier '", std::string(1, letter), "' is given twice"));
      }
      modifiers.letters += letter;
    }
    return modifiers;
  }

  absl::Status TakeNumber(std::string_view what, uint64_t* number) {
    const size_t start = at_;
    if (const auto value = NumberOf(TakeWord())) {
      *number = *value;
      return absl::OkStatus();
    }
    at_ = start;
    return Error(absl::StrCat(View(what), " must be a decimal or hexadecimal (0x…) number"));
  }

  std::string TakeWord() {
    const size_t start = at_;
    while (!AtEnd() && IsWordCharacter(Peek())) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  bool Take(char c) {
    if (Peek() != c || AtEnd()) return false;
    ++at_;
    return true;
  }
  bool TakeString(std::string_view text) {
    if (!text_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  void SkipSpaces() {
    while (!AtEnd() && absl::ascii_isspace(static_cast<unsigned char>(Peek()))) ++at_;
  }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool AtEnd() const { return at_ >= text_.size(); }
  absl::Status Error(std::string_view message) const { return ErrorAt(text_, at_, message); }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<EventGroup>> ParseEventList(std::string_view text) {
  return Parser(text).List();
}

absl::Status ErrorAt(std::string_view text, size_t position, std::string_view message,
                     absl::StatusCode code) {
  const std::string shown = Printable(text);
  return WithExcerpt(
      absl::Status(code, absl::StrCat(shown, ": ", View(message))),
      absl::StrCat("  ", shown, "\n  ", std::string(std::min(position, shown.size()), ' '), "^\n"));
}

bool IsPattern(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos;
}

std::optional<uint64_t> RawConfig(std::string_view word) {
  if (!word.starts_with('r')) return std::nullopt;
  word.remove_prefix(1);
  return word.starts_with("0x") ? NumberOf(word) : procfs::ParseNumber<uint64_t>(word, 16);
}

std::optional<uint64_t> NumberOf(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X")
             ? procfs::ParseNumber<uint64_t>(text.substr(2), 16)
             : procfs::ParseNumber<uint64_t>(text);
}

}  // namespace profiler::events

// The style of standard output. On a terminal, text is coloured, cut to the terminal's width, and
// shown in a pager; text for a file or a pipe is unchanged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace profiler::cli {

enum class Colour : uint8_t { kAuto, kAlways, kNever };

// The user's choice.
struct TerminalChoice {
  bool pager = true;
  Colour colour = Colour::kAuto;
};

struct TerminalStyle {
  size_t columns = 0;  // 0: lines are not cut
  bool colour = false;
  std::string pager;  // a shell command; empty: none

  bool operator==(const TerminalStyle&) const = default;
};

// Facts about standard output.
struct TerminalFacts {
  bool is_terminal = false;
  size_t columns = 0;  // 0: unknown
};

// Returns the value of an environment variable; "" if it is not set.
using Environment = std::function<std::string(const char* name)>;

// Returns the style. Reads $COLUMNS, $NO_COLOR and $TERM. The pager is $PROFILER_PAGER, or else
// $PAGER, or else `less`, if it is in $PATH and $TERM names a capable terminal. "cat" means no
// pager.
TerminalStyle StyleOf(const TerminalFacts& facts, const TerminalChoice& choice,
                      const Environment& environment);

// True if a view may take the whole terminal: neither --no-pager, a pager "cat" nor
// PROFILER_UI=stdio asks for plain text.
bool MayTakeTerminal(const TerminalChoice& choice, const Environment& environment);

// Sets the user's choice for this process.
void ChooseTerminal(const TerminalChoice& choice);
TerminalStyle StyleOfStandardOutput();
// Returns the width of `--help`: that of the terminal, or else 80 columns.
size_t HelpColumns();
TerminalStyle StyleOfStandardError();
bool MayTakeTerminal();  // in this process

}  // namespace profiler::cli

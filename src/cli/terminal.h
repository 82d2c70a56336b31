// How views are shown on standard output: in colours, cut to the terminal's width, in a pager; or,
// in a file or a pipe, as they are.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace profiler::cli {

enum class Colour : uint8_t { kAuto, kAlways, kNever };

// What the user says of it.
struct TerminalChoice {
  bool pager = true;
  Colour colour = Colour::kAuto;
};

struct TerminalStyle {
  size_t columns = 0;  // 0: lines are as wide as they are
  bool colour = false;
  std::string pager;  // a command for the shell; empty: none

  bool operator==(const TerminalStyle&) const = default;
};

// What standard output is.
struct TerminalFacts {
  bool is_terminal = false;
  size_t columns = 0;  // 0: not known
};

// The value of a variable of the environment; "" where it is not set.
using Environment = std::function<std::string(const char* name)>;

// By $COLUMNS, $NO_COLOR, $TERM, and for the pager $PROFILER_PAGER, $PAGER or else `less`, where
// that is in $PATH and $TERM says what the terminal is. "cat" is no pager.
TerminalStyle StyleOf(const TerminalFacts& facts, const TerminalChoice& choice,
                      const Environment& environment);

// Of this process, as the user has chosen.
void ChooseTerminal(const TerminalChoice& choice);
TerminalStyle StyleOfStandardOutput();
TerminalStyle StyleOfStandardError();

}  // namespace profiler::cli

// How a cell of a terminal looks.

#pragma once

#include <cstdint>

namespace profiler::terminal {

// A colour of text. A terminal with 256 colours shows paler ones than one with 8, and a terminal
// without colours none.
enum class Colour : uint8_t { kDefault, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan, kGrey };

struct Style {
  Colour colour = Colour::kDefault;
  bool bold = false;
  bool reverse = false;
  bool underline = false;

  bool operator==(const Style&) const = default;
};

inline constexpr Style kTitleStyle = {.bold = true, .reverse = true};
inline constexpr Style kWarningStyle = {.colour = Colour::kYellow, .bold = true};

// Returns the style of a share, as perf's browser and `report` colour it: red from 5 %, green from
// 0.5 %.
inline Style StyleOfPercent(double percent) {
  if (percent >= 5) return {.colour = Colour::kRed};
  if (percent >= 0.5) return {.colour = Colour::kGreen};
  return {};
}

}  // namespace profiler::terminal

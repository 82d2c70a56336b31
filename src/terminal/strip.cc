#include "src/terminal/strip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace profiler::terminal {

std::string StripOf(std::span<const double> values, double highest) {
  static constexpr std::array<std::string_view, 9> kBars = {" ", "▁", "▂", "▃", "▄",
                                                            "▅", "▆", "▇", "█"};
  constexpr double kHeights = kBars.size() - 1;
  std::string strip;
  for (const double value : values) {
    const double height = highest > 0 ? std::ceil(value / highest * kHeights) : 0;
    strip += kBars[static_cast<size_t>(std::clamp(height, 0.0, kHeights))];
  }
  return strip;
}

}  // namespace profiler::terminal

#include "src/terminal/descriptions.h"

#include <utility>

namespace profiler::terminal {
namespace {

constexpr std::pair<std::string_view, std::string_view> kDescriptions[] = {
#include "src/terminal/descriptions.inc"
};

// Beginnings of the names of terminals, and the terminal that they emulate in all that a screen
// needs.
constexpr std::pair<std::string_view, std::string_view> kEmulations[] = {
    {"xterm", "xterm-256color"},
    {"alacritty", "xterm-256color"},
    {"contour", "xterm-256color"},
    {"foot", "xterm-256color"},
    {"ghostty", "xterm-256color"},
    {"gnome", "xterm-256color"},
    {"kitty", "xterm-256color"},
    {"konsole", "xterm-256color"},
    {"mintty", "xterm-256color"},
    {"putty", "xterm-256color"},
    {"st-", "xterm-256color"},
    {"vte", "xterm-256color"},
    {"wezterm", "xterm-256color"},
    {"rxvt", "rxvt"},
    {"screen", "screen-256color"},
    {"tmux", "tmux-256color"},
    {"linux", "linux"}};

}  // namespace

Description DescriptionOf(std::string_view terminal) {
  const auto find = [](std::string_view wanted) -> Description {
    for (const auto& [name, text] : kDescriptions) {
      if (name == wanted) return {name, text};
    }
    return {};
  };
  if (const Description own = find(terminal); !own.text.empty()) return own;
  for (const auto& [begin, emulated] : kEmulations) {
    if (terminal.starts_with(begin)) return find(emulated);
  }
  return {};
}

}  // namespace profiler::terminal

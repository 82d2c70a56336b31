// Events of a terminal: keys, the mouse, a new size.

#pragma once

#include <cstdint>
#include <optional>

namespace profiler::terminal {

// A key: the code point of a character, or one of the values below.
enum class Key : uint32_t {
  kTab = '\t',
  kEnter = '\n',
  kEscape = 0x1b,
  kBackspace = 0x7f,
  // Beyond Unicode.
  kUp = 0x110000,
  kDown,
  kLeft,
  kRight,
  kHome,
  kEnd,
  kPageUp,
  kPageDown,
  kBackTab,
  kDelete,
  kF1,
  kUnknown,  // a key that this list lacks
};

// Returns the key of an ASCII character.
constexpr Key KeyOf(char character) { return static_cast<Key>(character); }
// Returns the key of a letter typed with Ctrl.
constexpr Key CtrlOf(char letter) { return static_cast<Key>(letter & 0x1f); }

// Returns the ASCII character of a key; nothing for other keys.
inline std::optional<char> CharacterOf(Key key) {
  const auto code = static_cast<uint32_t>(key);
  if (code < 0x20 || code >= 0x7f) return std::nullopt;
  return static_cast<char>(code);
}

struct Event {
  enum class Kind : uint8_t {
    kKey,
    kPress,      // a button of the mouse went down at `row` and `column`
    kRelease,    // … went up; it may be another cell
    kWheelUp,    // at `row` and `column`
    kWheelDown,  // at `row` and `column`
    kRedraw,     // the size changed, or the program continues after Ctrl-Z: draw again
    kTimeout,    // nothing happened
    kInterrupt,  // Ctrl-C: quit
    kClosed,     // the terminal is gone: quit
  };

  Kind kind = Kind::kTimeout;
  Key key = Key::kUnknown;
  int row = 0, column = 0;

  bool IsKey(Key wanted) const { return kind == Kind::kKey && key == wanted; }
  bool IsKey(char wanted) const { return IsKey(KeyOf(wanted)); }
};

}  // namespace profiler::terminal

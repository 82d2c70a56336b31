#include "src/terminal/curses_screen.h"

// Functions instead of macros, because the macros have names such as `move` and `clear`.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/utf8.h"
#include "src/terminal/descriptions.h"
#include "src/terminal/restore.h"

// Macros of term.h.
#undef columns
#undef lines

namespace profiler::terminal {
namespace {

// Time in ms to wait for the rest of a key's sequence after Esc.
constexpr int kEscapeDelay = 35;
constexpr size_t kColours = 8;
// Numbers of the colours in the palette of terminals with 256 colours.
constexpr std::array<short, kColours> kPalette = {-1, 167, 107, 179, 110, 176, 73, 245};
constexpr std::array<short, kColours> kBasic = {
    -1, COLOR_RED, COLOR_GREEN, COLOR_YELLOW, COLOR_BLUE, COLOR_MAGENTA, COLOR_CYAN, -1};

// Reads the system's description of $TERM. It is the current one of terminfo while this object
// lives (setupterm(3NCURSES)).
class TerminalDescription {
 public:
  TerminalDescription() {
    int error = 0;
    if (setupterm(nullptr, STDOUT_FILENO, &error) == OK) description_ = cur_term;
  }
  TerminalDescription(const TerminalDescription&) = delete;
  ~TerminalDescription() {
    if (description_ == nullptr) return;
    del_curterm(description_);
    set_curterm(former_);
  }
  bool is_known() const { return description_ != nullptr; }

 private:
  TERMINAL* const former_ = cur_term;
  TERMINAL* description_ = nullptr;
};

// A variable of the environment that has another value while this object lives.
class ChangedVariable {
 public:
  ChangedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    setenv(name, value.c_str(), 1);
  }
  ChangedVariable(const ChangedVariable&) = delete;
  ~ChangedVariable() {
    if (former_) {
      setenv(name_, former_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* const name_;
  std::optional<std::string> former_;
};

// Lets $TERM and $TERMINFO name our own description of the terminal while it lives, if the system
// has none.
class KnownTerminal {
 public:
  KnownTerminal() {
    if (TerminalDescription().is_known()) return;
    const char* const name = std::getenv("TERM");
    const Description description = DescriptionOf(name == nullptr ? "" : name);
    if (description.text.empty()) return;
    terminal_.emplace("TERM", std::string(description.name));
    terminfo_.emplace("TERMINFO", std::string(description.text));
  }

 private:
  std::optional<ChangedVariable> terminal_, terminfo_;
};

// Sets the type of characters to UTF-8 while it lives, if the user's locale says so.
class CharacterType {
 public:
  CharacterType() : former_(std::setlocale(LC_CTYPE, nullptr)) {
    is_utf8_ = Takes("") || (AsksForUtf8() && Takes("C.UTF-8"));
    if (!is_utf8_) std::setlocale(LC_CTYPE, former_.c_str());
  }
  CharacterType(const CharacterType&) = delete;
  ~CharacterType() { std::setlocale(LC_CTYPE, former_.c_str()); }

  bool is_utf8() const { return is_utf8_; }

 private:
  static bool Takes(const char* locale) {
    return std::setlocale(LC_CTYPE, locale) != nullptr &&
           std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  }
  // True if the environment names a locale with UTF-8, which may be missing on this machine.
  static bool AsksForUtf8() {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* const value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      const std::string_view locale(value);
      return locale.ends_with("UTF-8") || locale.ends_with("utf8") || locale.ends_with("UTF8");
    }
    return false;
  }

  const std::string former_;
  bool is_utf8_ = false;
};

std::string Capability(const char* name) {
  const char* const value = tigetstr(name);
  // tigetstr returns -1 for a capability that is no string.
  return value == nullptr || value == reinterpret_cast<const char*>(-1) ? "" : value;
}

constexpr std::string_view kMouseOff = "\033[?1000l\033[?1002l\033[?1003l\033[?1006l";

Key KeyOfCode(wint_t code) {
  static constexpr std::pair<wint_t, Key> kKeys[] = {
      {KEY_UP, Key::kUp},        {KEY_DOWN, Key::kDown},      {KEY_LEFT, Key::kLeft},
      {KEY_RIGHT, Key::kRight},  {KEY_HOME, Key::kHome},      {KEY_END, Key::kEnd},
      {KEY_PPAGE, Key::kPageUp}, {KEY_NPAGE, Key::kPageDown}, {KEY_BTAB, Key::kBackTab},
      {KEY_DC, Key::kDelete},    {KEY_F(1), Key::kF1},        {KEY_BACKSPACE, Key::kBackspace},
      {KEY_ENTER, Key::kEnter},  {KEY_FIND, Key::kHome},      {KEY_SELECT, Key::kEnd}};
  for (const auto& [curses, key] : kKeys) {
    if (curses == code) return key;
  }
  return Key::kUnknown;
}

class CursesScreen : public Screen {
 public:
  explicit CursesScreen(Pipe notices) : guard_(std::move(notices)) {}
  CursesScreen(const CursesScreen&) = delete;
  ~CursesScreen() override {
    if (screen_ == nullptr) return;
    const bool keeps_picture = Capability("rmcup").empty();
    endwin();
    if (keeps_picture) std::fputs("\r\n", stdout);
    std::fflush(stdout);
    guard_.Closed();
    delscreen(screen_);
  }

  // Returns false if the terminal cannot be used.
  bool Open(const ScreenOptions& options) {
    const KnownTerminal known;
    screen_ = newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) return false;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(kEscapeDelay);
    typeahead(-1);
    curs_set(0);
    mouseinterval(0);
    const bool has_mouse =
        mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
                  nullptr) != 0;
    if (options.colours) UseColours();
    guard_.Arm(Capability("smcup") + Capability("smkx") + Capability("civis"),
               (has_mouse ? std::string(kMouseOff) : "") + Capability("rmkx") + Capability("op") +
                   Capability("sgr0") + Capability("cnorm") + Capability("rmcup") +
                   (Capability("rmcup").empty() ? "\r\n" : ""));
    TakeSize();
    return true;
  }

  Size size() const override { return {getmaxy(stdscr), getmaxx(stdscr)}; }

  void Show(const Canvas& canvas) override {
    if (type_.is_utf8()) {
      ShowRows(canvas);
    } else {
      Canvas reduced = canvas;
      reduced.ReduceToAscii();
      ShowRows(reduced);
    }
    wrefresh(stdscr);
  }

  Event Read(int milliseconds) override {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    for (;;) {
      if (const auto event = TakeNotice()) return *event;
      if (const auto event = TakeKey()) return *event;
      int left = -1;
      if (milliseconds >= 0) {
        const auto time = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        left = static_cast<int>(std::max<std::chrono::milliseconds::rep>(time.count(), 0));
      }
      std::array<pollfd, 2> waited = {pollfd{STDIN_FILENO, POLLIN, 0},
                                      pollfd{guard_.descriptor(), POLLIN, 0}};
      const int ready = poll(waited.data(), waited.size(), left);
      if (ready == 0) return {.kind = Event::Kind::kTimeout};
      if (ready < 0 && errno != EINTR) return {.kind = Event::Kind::kClosed};
      if (ready > 0 && waited[0].revents != 0 && waited[1].revents == 0 && IsAtEnd()) {
        return {.kind = Event::Kind::kClosed};
      }
    }
  }

 private:
  // True if standard input is readable, but has nothing to read.
  static bool IsAtEnd() {
    int bytes = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes == 0;
  }

  void UseColours() {
    if (!has_colors() || start_color() != OK || use_default_colors() != OK) return;
    const auto& colours = COLORS >= 256 ? kPalette : kBasic;
    for (size_t i = 1; i < kColours; ++i) {
      init_pair(static_cast<short>(i), colours[i], -1);
    }
    has_colours_ = true;
  }

  void TakeSize() {
    winsize window = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0) {
      resize_term(window.ws_row, window.ws_col);
    }
    clearok(curscr, TRUE);
  }

  std::optional<Event> TakeNotice() {
    bool redraw = false;
    for (;;) {
      switch (guard_.Take()) {
        case TerminalGuard::Notice::kInterrupt:
          return Event{.kind = Event::Kind::kInterrupt};
        case TerminalGuard::Notice::kNone:
          if (!redraw) return std::nullopt;
          TakeSize();
          return Event{.kind = Event::Kind::kRedraw};
        default:
          redraw = true;
      }
    }
  }

  static std::optional<Event> TakeKey() {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == ERR) return std::nullopt;
    if (kind == KEY_CODE_YES && code == KEY_MOUSE) return MouseEvent();
    Key key = kind == KEY_CODE_YES ? KeyOfCode(code) : static_cast<Key>(code);
    if (key == KeyOf('\r')) key = Key::kEnter;
    if (key == KeyOf('\b')) key = Key::kBackspace;
    return Event{.kind = Event::Kind::kKey, .key = key};
  }

  static Event MouseEvent() {
    MEVENT mouse;
    if (getmouse(&mouse) != OK) return {};
    Event event = {.kind = Event::Kind::kTimeout, .row = mouse.y, .column = mouse.x};
    if ((mouse.bstate & BUTTON1_PRESSED) != 0) event.kind = Event::Kind::kPress;
    if ((mouse.bstate & BUTTON1_RELEASED) != 0) event.kind = Event::Kind::kRelease;
    if ((mouse.bstate & BUTTON4_PRESSED) != 0) event.kind = Event::Kind::kWheelUp;
    if ((mouse.bstate & BUTTON5_PRESSED) != 0) event.kind = Event::Kind::kWheelDown;
    return event;
  }

  attr_t AttributesOf(const Style& style) const {
    attr_t attributes = A_NORMAL;
    if (style.bold || (!has_colours_ && style.colour == Colour::kRed)) attributes |= A_BOLD;
    if (style.reverse) attributes |= A_REVERSE;
    if (style.underline) attributes |= A_UNDERLINE;
    return attributes;
  }

  // Appends a cell to the row. Characters whose width is another one for the C library than for us
  // become '?', so that columns stay.
  void AppendCell(std::string_view text, int columns, const Style& style) {
    std::array<wchar_t, CCHARW_MAX + 1> characters{};
    size_t count = 0;
    const bool is_ascii =
        text.size() == 1 && columns == 1 && text.front() >= ' ' && text.front() <= '~';
    if (is_ascii) characters[count++] = static_cast<wchar_t>(text.front()), text = {};
    while (!text.empty() && count < CCHARW_MAX) {
      const Utf8Character first = FirstCharacter(text);
      const auto character = static_cast<wchar_t>(first.code_point);
      const int width = wcwidth(character);
      text.remove_prefix(std::max<size_t>(first.size, 1));
      if (width == (count == 0 ? columns : 0)) characters[count++] = character;
      if (count == 0) break;
    }
    const auto pair = static_cast<short>(has_colours_ ? static_cast<int>(style.colour) : 0);
    const bool is_shown = count > 0;
    if (!is_shown) characters[0] = L'?';
    for (int i = 0; i < (is_shown ? 1 : columns); ++i) {
      cchar_t cell;
      setcchar(&cell, characters.data(), AttributesOf(style), pair, nullptr);
      row_.push_back(cell);
    }
  }

  void ShowRows(const Canvas& canvas) {
    const int rows = std::min(canvas.size().rows, size().rows);
    for (int row = 0; row < rows; ++row) ShowRow(canvas, row);
  }

  void ShowRow(const Canvas& canvas, int row) {
    row_.clear();
    const int columns = std::min(canvas.size().columns, size().columns);
    for (int column = 0; column < columns; ++column) {
      const Canvas::Cell& cell = canvas.At(row, column);
      if (cell.text.empty()) continue;
      const bool is_wide = column + 1 < columns && canvas.At(row, column + 1).text.empty();
      AppendCell(cell.text, is_wide ? 2 : 1, cell.style);
    }
    mvwadd_wchnstr(stdscr, row, 0, row_.data(), static_cast<int>(row_.size()));
  }

  const CharacterType type_;
  TerminalGuard guard_;
  SCREEN* screen_ = nullptr;
  bool has_colours_ = false;
  std::vector<cchar_t> row_;
};

// Returns the reason why the terminal cannot show a screen, and a remedy; empty if it can.
std::string WhyNoScreen() {
  if (isatty(STDIN_FILENO) == 0) return "standard input is no terminal";
  if (isatty(STDOUT_FILENO) == 0) return "standard output is no terminal";
  const char* const variable = std::getenv("TERM");
  if (variable == nullptr || *variable == '\0') return "$TERM is not set; set it, such as to xterm";
  const std::string name = variable;
  const KnownTerminal known;
  const TerminalDescription description;
  if (!description.is_known()) {
    return "$TERM names no known terminal: '" + name + "'; set it to a known one, such as xterm";
  }
  if (Capability("cup").empty()) {
    return "the terminal '" + name + "' cannot move its cursor";
  }
  return "";
}

}  // namespace

bool CanOpenScreen() { return WhyNoScreen().empty(); }

absl::StatusOr<std::unique_ptr<Screen>> OpenScreen(const ScreenOptions& options) {
  if (const std::string why = WhyNoScreen(); !why.empty()) {
    return absl::FailedPreconditionError(why);
  }
  auto notices = MakePipe();
  if (!notices.ok()) return notices.status();
  auto screen = std::make_unique<CursesScreen>(*std::move(notices));
  if (!screen->Open(options)) {
    return absl::FailedPreconditionError("ncurses cannot use this terminal");
  }
  return screen;
}

}  // namespace profiler::terminal

// Shows the events of a terminal, and text that is hard to show. A letter ends it in a certain way.

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "src/terminal/box.h"
#include "src/terminal/curses_screen.h"

namespace profiler::terminal {
namespace {

std::string NameOf(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kKey:
      if (const auto character = CharacterOf(event.key)) return std::string("key ") + *character;
      return "key " + std::to_string(static_cast<uint32_t>(event.key));
    case Event::Kind::kRedraw:
      return "redraw";
    case Event::Kind::kTimeout:
      return "timeout";
    case Event::Kind::kPress:
      return "press " + std::to_string(event.row) + " " + std::to_string(event.column);
    default:
      return "other";
  }
}

void Draw(Pane pane, const std::string& last) {
  pane.PutIn(
      0, 0, pane.columns(),
      "size " + std::to_string(pane.rows()) + " x " + std::to_string(pane.columns()) + ", " + last,
      kTitleStyle);
  pane.Put(2, 0, "hot", StyleOfPercent(50));
  pane.Put(2, 4, "warm", StyleOfPercent(1));
  static constexpr const char* kTexts[] = {"plain",
                                           "\033[2J\033]0;title\007",
                                           "wide 漢字",
                                           "combining e\u0301",
                                           "right to left \u202e\u200f",
                                           "bytes \xff\x9b",
                                           "lines ┌─┐"};
  int row = 3;
  for (const char* const text : kTexts) {
    pane.PutIn(row, 0, 40, text);
    pane.Put(row++, 40, "│");
  }
}

[[noreturn]] void Overflow(volatile char* above) {
  volatile char here[4096];
  here[0] = *above;
  Overflow(here);
}

int Run() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  auto screen = OpenScreen({.colours = std::getenv("NO_COLOR") == nullptr});
  if (!screen.ok()) {
    std::fprintf(stderr, "%s\n", std::string(screen.status().message()).c_str());
    return 1;
  }
  std::string last = "started";
  for (;;) {
    Canvas canvas((*screen)->size());
    Draw(canvas.Whole(), last);
    (*screen)->Show(canvas);
    const Event event = (*screen)->Read(Screen::kForever);
    last = NameOf(event);
    if (event.IsKey('q')) return 0;
    if (event.kind == Event::Kind::kInterrupt) return 3;
    if (event.kind == Event::Kind::kClosed) return 4;
    if (event.IsKey('x')) std::exit(5);
    if (event.IsKey('v')) raise(SIGSEGV);
    if (event.IsKey('a')) std::abort();
    if (event.IsKey('o')) {
      char start = 0;
      Overflow(&start);
    }
    while (event.IsKey('l')) pause();  // reads nothing any more
  }
}

}  // namespace
}  // namespace profiler::terminal

int main() { return profiler::terminal::Run(); }

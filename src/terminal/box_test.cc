#include "src/terminal/box.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/terminal/testing/fake_screen.h"

namespace profiler::terminal {
namespace {

std::string Drawn(Box& box, Size size) {
  FakeScreen screen(size);
  Canvas canvas(screen.size());
  box.Draw(canvas.Whole());
  screen.Show(canvas);
  return screen.text();
}

TEST(Box, IsInTheMiddleAndAsWideAsItsLines) {
  Box box("keys", {"q  quit", "h"}, false);
  EXPECT_EQ(Drawn(box, {5, 15}),
            "  ┌─ keys ──┐\n"
            "  │ q  quit │\n"
            "  │ h       │\n"
            "  └─────────┘\n"
            "\n");
}

TEST(Box, ScrollsLinesThatDoNotFit) {
  Box box("", {"one", "two", "three", "four"}, false);
  EXPECT_EQ(Drawn(box, {4, 11}), " ┌───────┐\n │ one   │\n │ two   │\n └─ ↑ ↓ ─┘\n");
  EXPECT_TRUE(box.Handle({.kind = Event::Kind::kKey, .key = Key::kDown}));
  EXPECT_EQ(Drawn(box, {4, 11}), " ┌───────┐\n │ two   │\n │ three │\n └─ ↑ ↓ ─┘\n");
  EXPECT_TRUE(box.Handle({.kind = Event::Kind::kKey, .key = Key::kUp}));
  EXPECT_EQ(Drawn(box, {4, 11}), " ┌───────┐\n │ one   │\n │ two   │\n └─ ↑ ↓ ─┘\n");
}

TEST(Box, OfAMenuHasASelectedLine) {
  Box box("", {"one", "two"}, true);
  Canvas canvas({.rows = 4, .columns = 9});
  box.Draw(canvas.Whole());
  EXPECT_TRUE(box.Handle({.kind = Event::Kind::kKey, .key = Key::kDown}));
  EXPECT_EQ(box.selected(), 1u);
  box.Draw(canvas.Whole());
  EXPECT_EQ(canvas.Styles(), ".........\n.........\n..#####..\n.........\n");
  EXPECT_EQ(box.LineAt(1, 3), 0u);
  EXPECT_EQ(box.LineAt(3, 3), std::nullopt);
  EXPECT_EQ(box.LineAt(1, 0), std::nullopt);
}

TEST(Box, FitsOnTheSmallestScreen) {
  Box box("title", {"line"}, true);
  for (int rows = 0; rows < 4; ++rows) {
    for (int columns = 0; columns < 8; ++columns) Drawn(box, {rows, columns});
  }
}

}  // namespace
}  // namespace profiler::terminal

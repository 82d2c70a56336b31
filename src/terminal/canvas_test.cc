#include "src/terminal/canvas.h"

#include <string>

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

std::string Drawn(Size size, std::string_view text, int column = 0) {
  Canvas canvas(size);
  canvas.Whole().Put(0, column, text);
  return canvas.Text();
}

TEST(Canvas, ShowsItsCellsAsLines) {
  Canvas canvas({.rows = 2, .columns = 10});
  EXPECT_EQ(canvas.Whole().Put(0, 1, "main"), 5);
  canvas.Whole().PutRight(1, 10, "5%");
  EXPECT_EQ(canvas.Text(), " main\n        5%\n");
}

TEST(Canvas, ShowsForeignControlsInOctal) {
  EXPECT_EQ(Drawn({1, 40}, "a\033[2Jb\n"), "a\\033[2Jb\\012\n");
  EXPECT_EQ(Drawn({1, 40}, "\xff"), "\\377\n") << "a byte that is no text";
  EXPECT_EQ(Drawn({1, 40}, "a\u202eb"), "a\\342\\200\\256b\n") << "from right to left";
  EXPECT_EQ(Drawn({1, 40}, "a\u200fb"), "a\\342\\200\\217b\n") << "a mark from right to left";
  EXPECT_EQ(Drawn({1, 40}, "a\u200db"), "a\\342\\200\\215b\n") << "a joiner";
}

TEST(Canvas, KeepsColumnsWithWideAndCombiningCharacters) {
  Canvas canvas({.rows = 2, .columns = 6});
  canvas.Whole().Put(0, 0, "漢e\u0301|");
  canvas.Whole().Put(1, 0, "abc|");
  EXPECT_EQ(canvas.Text(), "漢e\u0301|\nabc|\n");
  EXPECT_EQ(canvas.At(0, 1).text, "") << "the second column of the wide character";
  EXPECT_EQ(canvas.At(0, 3).text, "|");
}

TEST(Canvas, NeverKeepsHalfAWideCharacter) {
  EXPECT_EQ(Drawn({1, 3}, "漢字"), "漢\n");
  Canvas canvas({.rows = 1, .columns = 4});
  canvas.Whole().Put(0, 0, "漢字");
  canvas.Whole().Put(0, 1, "x");
  EXPECT_EQ(canvas.Text(), " x字\n");
  canvas.Whole().Put(0, 2, "y");
  EXPECT_EQ(canvas.Text(), " xy\n");
}

TEST(Canvas, LimitsCombiningCharactersOfACell) {
  std::string text = "a";
  for (int i = 0; i < 1000; ++i) text += "\u0301";
  Canvas canvas({.rows = 1, .columns = 4});
  canvas.Whole().Put(0, 0, text + "b");
  EXPECT_LE(canvas.At(0, 0).text.size(), 20u);
  EXPECT_EQ(canvas.At(0, 1).text, "b");
  EXPECT_EQ(Drawn({1, 4}, "\u0301b"), "b\n") << "nothing precedes it";
}

TEST(Canvas, ShowsTabsAsBlanks) { EXPECT_EQ(Drawn({1, 20}, "a\tb", 1), " a       b\n"); }

TEST(Canvas, MarksTextThatDoesNotFit) {
  Canvas canvas({.rows = 3, .columns = 12});
  Pane pane = canvas.Whole();
  EXPECT_EQ(pane.PutIn(0, 0, 6, "function"), 6);
  pane.Put(0, 6, "|");
  pane.PutIn(1, 0, 6, "main");
  pane.Put(1, 6, "|");
  pane.PutIn(2, 0, 6, "漢字漢字");
  pane.Put(2, 6, "|");
  EXPECT_EQ(canvas.Text(), "funct…|\nmain  |\n漢字… |\n");
}

TEST(Canvas, PanesCutWhatIsOutside) {
  Canvas canvas({.rows = 4, .columns = 8});
  Pane pane = canvas.Whole().Part(1, 2, {.rows = 2, .columns = 4});
  pane.Put(0, 0, "abcdefgh");
  pane.Put(-1, 0, "x");
  pane.Put(2, 0, "x");
  pane.Put(1, -1, "xy");
  EXPECT_EQ(canvas.Text(), "\n  abcd\n  y\n\n");
  EXPECT_EQ(canvas.Whole().Part(3, 7, {.rows = 9, .columns = 9}).size(), (Size{1, 1}));
  EXPECT_EQ(canvas.Whole().Part(-1, 0, {.rows = 2, .columns = 9}).size(), (Size{1, 8}));
}

TEST(Canvas, ShowsStylesAsLetters) {
  Canvas canvas({.rows = 2, .columns = 4});
  canvas.Whole().Put(0, 0, "ab", StyleOfPercent(7));
  canvas.Whole().Put(1, 0, "c", {.bold = true});
  canvas.Whole().Part(0, 1, {1, 3}).Reverse(0);
  EXPECT_EQ(canvas.Styles(), "rR##\nb...\n");
}

TEST(Canvas, CanBeReducedToAscii) {
  Canvas canvas({.rows = 2, .columns = 8});
  canvas.Whole().Put(0, 0, "┌─…→▄é");
  canvas.Whole().Put(1, 0, "漢e\u0301x");
  canvas.ReduceToAscii();
  EXPECT_EQ(canvas.Text(), "+-~>:?\n??ex\n");
}

}  // namespace
}  // namespace profiler::terminal

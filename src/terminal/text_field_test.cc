#include "src/terminal/text_field.h"

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

Event Press(Key key) { return {.kind = Event::Kind::kKey, .key = key}; }

TEST(TextField, TakesAndRemovesCharacters) {
  TextField field("filter: ");
  EXPECT_TRUE(field.Handle(Press(KeyOf('a'))));
  EXPECT_TRUE(field.Handle(Press(static_cast<Key>(U'ß'))));
  EXPECT_TRUE(field.Handle(Press(static_cast<Key>(U'漢'))));
  EXPECT_TRUE(field.Handle(Press(static_cast<Key>(U'🦀'))));
  EXPECT_EQ(field.text(), "aß漢🦀");
  EXPECT_TRUE(field.Handle(Press(Key::kBackspace)));
  EXPECT_TRUE(field.Handle(Press(Key::kBackspace)));
  EXPECT_EQ(field.text(), "aß");
  EXPECT_TRUE(field.Handle(Press(CtrlOf('u'))));
  EXPECT_EQ(field.text(), "");
  EXPECT_FALSE(field.Handle(Press(Key::kBackspace)));
  EXPECT_FALSE(field.Handle(Press(Key::kUp)));
}

TEST(TextField, ShowsTheEndOfALongText) {
  Canvas canvas({.rows = 1, .columns = 10});
  TextField("/", "abcdefghijkl").Draw(canvas.Whole(), 0);
  EXPECT_EQ(canvas.Text(), "/efghijkl\n");
  EXPECT_EQ(canvas.Styles(), ".bbbbbbbb#\n");
}

}  // namespace
}  // namespace profiler::terminal

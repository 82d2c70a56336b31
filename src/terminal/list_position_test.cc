#include "src/terminal/list_position.h"

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

Event Press(Key key) { return {.kind = Event::Kind::kKey, .key = key}; }

TEST(ListPosition, KeepsTheSelectedLineVisible) {
  ListPosition position;
  position.Fit(100, 10);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(position.Handle(Press(Key::kDown)));
  EXPECT_EQ(position.selected(), 12u);
  EXPECT_EQ(position.first(), 3u);
  position.Fit(100, 5);
  EXPECT_EQ(position.first(), 8u);
  EXPECT_TRUE(position.Handle(Press(Key::kEnd)));
  EXPECT_EQ(position.selected(), 99u);
  EXPECT_EQ(position.first(), 95u);
  EXPECT_TRUE(position.Handle(Press(Key::kPageUp)));
  EXPECT_EQ(position.selected(), 94u);
  EXPECT_TRUE(position.Handle(Press(Key::kHome)));
  EXPECT_EQ(position.first(), 0u);
  EXPECT_TRUE(position.Handle(Press(Key::kUp)));
  EXPECT_EQ(position.selected(), 0u);
}

TEST(ListPosition, StaysWithinAListThatBecomesShorter) {
  ListPosition position;
  position.Fit(100, 10);
  position.Select(99);
  position.Fit(3, 10);
  EXPECT_EQ(position.selected(), 2u);
  EXPECT_EQ(position.first(), 0u);
  position.Fit(0, 10);
  EXPECT_FALSE(position.has_selected());
  EXPECT_TRUE(position.Handle(Press(Key::kDown)));
  EXPECT_EQ(position.selected(), 0u);
}

TEST(ListPosition, FindsTheLineAtARow) {
  ListPosition position;
  position.Fit(12, 10);
  position.Select(11);
  EXPECT_EQ(position.LineAt(0), 2u);
  EXPECT_EQ(position.LineAt(9), 11u);
  EXPECT_EQ(position.LineAt(10), 12u) << "none";
  EXPECT_EQ(position.LineAt(-1), 12u) << "none";
}

TEST(ListPosition, LeavesOtherKeysAlone) {
  ListPosition position;
  position.Fit(12, 10);
  EXPECT_FALSE(position.Handle(Press(KeyOf('q'))));
  EXPECT_FALSE(position.Handle({.kind = Event::Kind::kTimeout}));
}

}  // namespace
}  // namespace profiler::terminal

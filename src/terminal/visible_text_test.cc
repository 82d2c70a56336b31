#include "src/terminal/visible_text.h"

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

std::string Visible(std::string_view text) {
  std::string buffer;
  return std::string(VisibleText(text, &buffer));
}

TEST(VisibleText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(Visible("\033[2J"), "\\033[2J");
  EXPECT_EQ(Visible("\033]0;title\007"), "\\033]0;title\\007");
  EXPECT_EQ(Visible(std::string_view("a\0b\rc\bd\x7f", 8)), "a\\000b\\015c\\010d\\177");
  EXPECT_EQ(Visible("\xc2\x9b"
                    "31m"),
            "\\302\\23331m")
      << "C1 as UTF-8";
  EXPECT_EQ(Visible("\x9b"
                    "31m"),
            "\\23331m")
      << "C1 as a byte";
  EXPECT_EQ(Visible("\xe2\x9b"), "\xe2\\233") << "C1 as the rest of a cut character";
  EXPECT_EQ(Visible("\xc0\x9b"), "\xc0\\233") << "C1 in what only looks like UTF-8";
}

TEST(VisibleText, ShowsWhatChangesTheDirectionOfWriting) {
  EXPECT_EQ(Visible("a\xe2\x80\xae"
                    "b"),
            "a\\342\\200\\256b")
      << "U+202E";
  EXPECT_EQ(Visible("\xe2\x81\xa6\xe2\x81\xa9"), "\\342\\201\\246\\342\\201\\251")
      << "U+2066, U+2069";
  EXPECT_EQ(Visible("\xe2\x80\xa9\xe2\x80\xaf"), "\xe2\x80\xa9\xe2\x80\xaf") << "U+2029, U+202F";
}

TEST(VisibleText, LeavesAllElse) {
  for (const std::string_view text :
       {"", "plain", "a\tb\nc\n", "größe", "Û is c3 9b", "関数", "🔥", "\xa0\xe9 of Latin-1",
        "\\033 was written so", "\xef\xbf\xbd"}) {
    std::string buffer;
    EXPECT_EQ(VisibleText(text, &buffer).data(), text.data()) << text;
    EXPECT_EQ(VisibleText(text, &buffer), text);
  }
}

// Tests each position in a text, because texts are checked in blocks.
TEST(VisibleText, FindsItWhereverItStands) {
  for (size_t size = 0; size < 200; ++size) {
    for (size_t place = 0; place < size; ++place) {
      std::string text(size, 'x');
      text[place] = '\033';
      ASSERT_EQ(Visible(text),
                std::string(place, 'x') + "\\033" + std::string(size - place - 1, 'x'));
      text[place] = '\xe9';
      ASSERT_EQ(Visible(text), text);
    }
  }
}

}  // namespace
}  // namespace profiler::terminal

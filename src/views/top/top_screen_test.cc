#include "src/views/top/top_screen.h"

#include <gtest/gtest.h>

#include <string>

#include "src/profile/testing/handmade_profile.h"
#include "src/terminal/canvas.h"

namespace profiler::top {
namespace {

using profile::HandmadeProfile;
using terminal::Event;
using terminal::Key;

// A screen of 12 lines with data of a handmade profile.
class TopScreenTest : public testing::Test {
 protected:
  // Passes data of the profile that `fill` makes.
  template <class Fill>
  void Show(Fill fill) {
    HandmadeProfile handmade;
    fill(handmade);
    TopData data;
    data.profile = std::make_shared<const profile::Profile>(std::move(handmade.profile()));
    data.title = "all 2 CPUs, 999 Hz";
    data.figures = "10 samples, lost 0";
    data.remarks = {"12.30 % idle"};
    data.use = {0.1, 0.5, 1.0, 0.78};
    screen_.SetData(std::move(data));
  }
  void ShowWork() {
    Show([](HandmadeProfile& b) {
      b.Thread(7, 7).Sample("worker", {"main@app", "parse@app"}, 6);
      b.Thread(8, 8).Sample("other", {"start@tool", "run@tool", "write@libc.so.6"}, 4);
    });
  }

  std::string Text() {
    terminal::Canvas canvas({.rows = 12, .columns = 72});
    screen_.Draw(canvas.Whole());
    return canvas.Text();
  }
  // Returns the lines of the table.
  std::string Rows() {
    const std::string text = Text();
    std::string rows;
    size_t begin = 0;
    for (int line = 0; begin < text.size(); ++line) {
      const size_t end = text.find('\n', begin);
      if (line >= 4 && line < 11 && end > begin) rows += text.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return rows;
  }
  Request Press(Key key) { return screen_.Handle({.kind = Event::Kind::kKey, .key = key}); }
  Request Type(std::string_view keys) {
    Request last = Request::kNone;
    for (const char key : keys) last = Press(terminal::KeyOf(key));
    return last;
  }

  TopScreen screen_{{.range = 1}, {"2 s", "10 s", "minute", "all"}};
};

TEST_F(TopScreenTest, ShowsTheUseOfTheCpusWhatIsLeftOutAndTheRows) {
  ShowWork();
  const std::string text = Text();
  for (const std::string part :
       {" profiler top  all 2 CPUs, 999 Hz", "last 10 s: 10 samples, lost 0", "CPU use ", " 78 %",
        "12.30 % idle", "parse", "write"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(TopScreenTest, SaysThatThereAreNoSamplesYet) {
  Show([](HandmadeProfile&) {});
  EXPECT_EQ(Rows(), "  No samples yet.\n");
}

TEST_F(TopScreenTest, EnterUnfoldsTheCallGraphOfARowAndFoldsItAgain) {
  ShowWork();
  const std::string folded = Rows();
  EXPECT_EQ(folded.front(), '+') << folded;
  Press(Key::kEnter);
  EXPECT_EQ(Rows().front(), '-') << Rows();
  EXPECT_GT(Rows().size(), folded.size());
  Press(Key::kEnter);
  EXPECT_EQ(Rows(), folded);
  Type("E");
  EXPECT_NE(Rows(), folded);
  Type("C");
  EXPECT_EQ(Rows(), folded);
}

TEST_F(TopScreenTest, SaysWhyThereIsNoCallGraph) {
  Show([](HandmadeProfile& b) { b.Sample("worker", {"parse@app"}, 6); });
  Press(Key::kEnter);
  EXPECT_NE(Text().find("without -g"), std::string::npos) << Text();
}

TEST_F(TopScreenTest, ShowsMarginsOfRowsWithFewSamples) {
  Show([](HandmadeProfile& b) {
    b.Sample("worker", {"often@app"}, 90'000);
    b.Sample("worker", {"rare@app"}, 10);
  });
  const std::string rows = Rows();
  const std::string often = rows.substr(0, rows.find('\n')), rare = rows.substr(often.size() + 1);
  EXPECT_EQ(often.find("±"), std::string::npos) << rows;
  EXPECT_NE(rare.find("0.01%  ±0.01"), std::string::npos) << rows;
}

TEST_F(TopScreenTest, AMouseSelectsARowAndUnfoldsIt) {
  ShowWork();
  constexpr int kSecondRow = 5;
  Text();  // which says how many rows the screen has
  screen_.Handle({.kind = Event::Kind::kPress, .row = kSecondRow});
  const std::string selected = screen_.selected_function();
  const std::string folded = Rows();
  screen_.Handle({.kind = Event::Kind::kPress, .row = kSecondRow});
  EXPECT_EQ(screen_.selected_function(), selected);
  EXPECT_NE(Rows(), folded);
}

TEST_F(TopScreenTest, ARowStaysUnfoldedAndSelectedInTheNextData) {
  ShowWork();
  Press(Key::kDown);
  Press(Key::kEnter);
  const std::string unfolded = Rows();
  const std::string selected = screen_.selected_function();
  ShowWork();
  EXPECT_EQ(Rows(), unfolded);
  EXPECT_EQ(screen_.selected_function(), selected);
}

TEST_F(TopScreenTest, TypingAFilterAsksForDataWithEachKey) {
  ShowWork();
  EXPECT_EQ(Type("/"), Request::kNone);
  EXPECT_EQ(Type("p"), Request::kData);
  EXPECT_EQ(Type("a"), Request::kData);
  EXPECT_EQ(screen_.choice().symbol_part, "pa");
  ShowWork();
  EXPECT_NE(Rows().find("parse"), std::string::npos);
  EXPECT_EQ(Rows().find("write"), std::string::npos);
  EXPECT_EQ(Press(Key::kEnter), Request::kNone);
  EXPECT_EQ(screen_.choice().symbol_part, "pa");
  EXPECT_EQ(Press(Key::kEscape), Request::kData);
  EXPECT_EQ(screen_.choice().symbol_part, "");
}

TEST_F(TopScreenTest, EscTakesBackFiltersOneByOne) {
  ShowWork();
  EXPECT_EQ(Type("t"), Request::kData);
  ShowWork();
  EXPECT_EQ(Type("d"), Request::kData);
  EXPECT_FALSE(screen_.choice().comm.empty());
  EXPECT_FALSE(screen_.choice().image.empty());
  EXPECT_EQ(Press(Key::kEscape), Request::kData);
  EXPECT_TRUE(screen_.choice().image.empty());
  EXPECT_EQ(Press(Key::kEscape), Request::kData);
  EXPECT_TRUE(screen_.choice().comm.empty());
  EXPECT_EQ(Press(Key::kEscape), Request::kNone);
}

TEST_F(TopScreenTest, TabsShowThreadsAndImages) {
  Type("3");
  ShowWork();
  EXPECT_NE(Rows().find("libc.so.6"), std::string::npos) << Rows();
  EXPECT_EQ(Rows().find("worker"), std::string::npos) << Rows();
  Type("2");
  ShowWork();
  EXPECT_NE(Rows().find("worker"), std::string::npos) << Rows();
  EXPECT_EQ(Rows().find("libc.so.6"), std::string::npos) << Rows();
}

TEST_F(TopScreenTest, KeysChangeWhatTheNextDataHas) {
  ShowWork();
  EXPECT_EQ(Type("w"), Request::kData);
  EXPECT_EQ(screen_.choice().range, 2);
  EXPECT_EQ(Type("KU"), Request::kData);
  EXPECT_TRUE(screen_.choice().hide_kernel && screen_.choice().hide_user);
  EXPECT_EQ(Type("s"), Request::kData);
  EXPECT_TRUE(screen_.choice().by_self);
  EXPECT_EQ(Type("i"), Request::kData);
  EXPECT_TRUE(screen_.choice().is_inverted);
  EXPECT_EQ(Type("Z"), Request::kClear);
  EXPECT_EQ(Type("P"), Request::kSave);
  EXPECT_EQ(Type("a"), Request::kAnnotate);
  EXPECT_EQ(Type("q"), Request::kQuit);
}

TEST_F(TopScreenTest, ZShowsOnlyTheSamplesSinceTheLastRefreshUntilItIsPressedAgain) {
  ShowWork();
  EXPECT_NE(Text().find("last 10 s: 10 samples"), std::string::npos) << Text();
  EXPECT_EQ(Type("z"), Request::kData);
  EXPECT_TRUE(screen_.choice().since_refresh);
  EXPECT_NE(Text().find("since last refresh: 10 samples"), std::string::npos) << Text();
  EXPECT_EQ(Type("z"), Request::kData);
  EXPECT_FALSE(screen_.choice().since_refresh);
  EXPECT_NE(Text().find("last 10 s: 10 samples"), std::string::npos) << Text();
  // Another time ends it, too.
  EXPECT_EQ(Type("zw"), Request::kData);
  EXPECT_FALSE(screen_.choice().since_refresh);
  EXPECT_EQ(screen_.choice().range, 1);
}

TEST_F(TopScreenTest, FreezesUntilTheKeyIsPressedAgain) {
  ShowWork();
  EXPECT_EQ(Type("f"), Request::kNone);
  EXPECT_TRUE(screen_.is_frozen());
  EXPECT_NE(Text().find("FROZEN"), std::string::npos);
  EXPECT_EQ(Type(" "), Request::kData);
  EXPECT_FALSE(screen_.is_frozen());
}

TEST_F(TopScreenTest, CodeReplacesTheTableUntilAKeyThatDoesNotMoveInIt) {
  ShowWork();
  screen_.ShowCode("parse", "   12.00 :   1000:  push   %rbp\n");
  EXPECT_NE(Text().find("push   %rbp"), std::string::npos);
  EXPECT_EQ(Type("q"), Request::kNone);
  EXPECT_EQ(Text().find("push   %rbp"), std::string::npos);
  EXPECT_EQ(Type("q"), Request::kQuit);
}

TEST_F(TopScreenTest, ControlCharactersOfNamesDoNotReachTheTerminal) {
  Show([](HandmadeProfile& b) {
    b.Sample("w\x1b[2J",
             {"main@app",
              "p\x07"
              "arse@app"},
             6);
  });
  const std::string text = Text();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_NE(text.find("p?arse"), std::string::npos) << text;
}

TEST_F(TopScreenTest, DrawsOnAScreenThatIsTooSmall) {
  ShowWork();
  for (const terminal::Size size : {terminal::Size{1, 1}, {3, 10}, {5, 200}}) {
    terminal::Canvas canvas(size);
    screen_.Draw(canvas.Whole());
  }
}

}  // namespace
}  // namespace profiler::top

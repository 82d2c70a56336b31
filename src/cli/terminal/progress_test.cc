#include "src/cli/terminal/progress.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ProgressTest : public testing::Test {
 protected:
  void ShowAfter(milliseconds time, const std::string& text) {
    now_ += time;
    progress_.Show([&] { return text; });
  }

  Progress::Clock::time_point now_;
  std::vector<std::string> shown_;
  Progress progress_{[this] { return now_; },
                     [this](std::string_view text) { shown_.emplace_back(text); }};
};

TEST_F(ProgressTest, AShortStepShowsNothing) {
  ShowAfter(Progress::kDelay - milliseconds(1), "1 %");
  progress_.Clear();
  EXPECT_THAT(shown_, IsEmpty());
}

TEST_F(ProgressTest, ALongStepIsUpdatedNowAndThenAndErasedAtTheEnd) {
  ShowAfter(Progress::kDelay, "1 %");
  ShowAfter(Progress::kInterval - milliseconds(1), "2 %");
  ShowAfter(milliseconds(1), "3 %");
  progress_.Clear();
  progress_.Clear();
  EXPECT_THAT(shown_, ElementsAre("1 %", "3 %", ""));
}

TEST_F(ProgressTest, TheLineComesBackAfterItWasErased) {
  ShowAfter(Progress::kDelay, "1 %");
  progress_.Clear();
  ShowAfter(Progress::kInterval, "2 %");
  EXPECT_THAT(shown_, ElementsAre("1 %", "", "2 %"));
}

TEST(ProgressOfAPipe, IsNeverComputed) {
  Progress::Clock::time_point now;
  Progress progress([&] { return now; }, nullptr);
  now += 2 * Progress::kDelay;
  progress.Show([]() -> std::string {
    ADD_FAILURE() << "nobody sees the text";
    return "";
  });
}

TEST(ReadingTextTest, ShowsTheTotalIfItIsKnown) {
  EXPECT_EQ(ReadingText("a.data", 12'400'000, 176'000'000), "Reading a.data: 12 of 176 MB");
  EXPECT_EQ(ReadingText("-", 12'400'000, 0), "Reading -: 12 MB");
}

}  // namespace
}  // namespace profiler::cli

#include "src/profile/process_lives.h"

#include <map>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/fake_symbolizer.h"

namespace profiler::profile {
namespace {

using symbolize::PidOf;
using symbolize::ProcessKey;
using symbolize::ProcessLife;

class Told final : public FakeSymbolizer {
 public:
  void SetLife(uint32_t process, const ProcessLife& life) override { lives_[process] = life; }

  // Returns one line per life: "7 life 1: began 3, seen 4, over 9, replaced, ended".
  std::string text() const {
    std::ostringstream text;
    for (const auto& [process, life] : lives_) {
      text << PidOf(process) << " life " << process / ProcessKey(0, 1) << ":";
      Put(" began ", life.began, text);
      Put(" seen ", life.seen, text);
      Put(" over ", life.over, text);
      text << (life.is_replaced ? " replaced" : "") << (life.has_ended ? " ended" : "") << "\n";
    }
    return text.str();
  }

 private:
  static void Put(const char* what, int64_t time, std::ostream& text) {
    if (time != ProcessLife::kUnknown) text << what << time;
  }

  std::map<uint32_t, ProcessLife> lives_;
};

class ProcessLivesTest : public testing::Test {
 protected:
  Told told_;
  ProcessLives lives_{told_, {.to_real_time = 1000, .began = 900}};
};

TEST_F(ProcessLivesTest, AProcessThatDoesNotChangeIsItsNumber) {
  EXPECT_EQ(lives_.OfProcess(7, 5), 7u);
  EXPECT_EQ(lives_.OfProgram(7, 6), 7u);
  EXPECT_EQ(told_.text(), "7 life 0: seen 1005\n");
  lives_.ThreadEnded(7, 9);
  EXPECT_EQ(told_.text(), "7 life 0: seen 1005 over 1009 ended\n");
}

TEST_F(ProcessLivesTest, WhatRanBeforeTheRecordingLivedAtItsFirstSample) {
  lives_.OfProgram(7, 0);
  EXPECT_EQ(told_.text(), "7 life 0: seen 1000000900\n");
  lives_.Sampled(3);
  lives_.Sampled(4);
  EXPECT_EQ(told_.text(), "7 life 0: seen 1003\n");
}

TEST_F(ProcessLivesTest, AnotherProgramHasOtherMemoryInTheSameRoot) {
  lives_.Forked(7, 1);
  EXPECT_EQ(lives_.OfProgram(7, 2), 7u);
  lives_.Executed(7, 3);
  EXPECT_EQ(lives_.OfProcess(7, 4), 7u);
  EXPECT_EQ(lives_.OfProgram(7, 4), ProcessKey(7, 1));
  EXPECT_EQ(told_.text(),
            "7 life 0: began 1001 seen 1002 over 1003 replaced\n"
            "7 life 1: began 1003 seen 1004\n");
  lives_.ThreadEnded(7, 8);
  EXPECT_EQ(told_.text(),
            "7 life 0: began 1001 seen 1002 over 1003 replaced ended\n"
            "7 life 1: began 1003 seen 1004 over 1008 ended\n");
}

TEST_F(ProcessLivesTest, AProgramWithoutImagesOfItsOwnIsNoLife) {
  lives_.Executed(7, 3);
  EXPECT_EQ(lives_.OfProgram(7, 4), 7u);
  EXPECT_EQ(told_.text(), "7 life 0: began 1003 seen 1004\n");
}

TEST_F(ProcessLivesTest, ANumberThatIsUsedAgainIsAnotherProcess) {
  lives_.OfProgram(7, 2);
  lives_.ThreadEnded(7, 3);
  lives_.Forked(7, 5);
  EXPECT_EQ(lives_.OfProgram(7, 6), ProcessKey(7, 1));
  EXPECT_EQ(lives_.OfProcess(7, 6), ProcessKey(7, 1));
  EXPECT_EQ(told_.text(),
            "7 life 0: seen 1002 over 1003 ended\n"
            "7 life 1: began 1005 seen 1006\n");
}

TEST_F(ProcessLivesTest, WithoutAClockTheOrderIsKnown) {
  Told told;
  ProcessLives lives(told, {});
  lives.OfProgram(7, 2);
  lives.Executed(7, 3);
  lives.OfProgram(7, 4);
  lives.ThreadEnded(7, 5);
  EXPECT_EQ(told.text(),
            "7 life 0: replaced ended\n"
            "7 life 1: ended\n");
}

TEST_F(ProcessLivesTest, WithoutAClockWhatWasSeenLivedBeforeTheEnd) {
  Told told;
  ProcessLives lives(told, {.ended = 5000});
  lives.OfProgram(7, 2);
  lives.OfProgram(8, 0);
  lives.Sampled(3);
  lives.ThreadEnded(8, 5);
  EXPECT_EQ(told.text(),
            "7 life 0: seen 5000\n"
            "8 life 0: seen 5000 ended\n");
}

TEST_F(ProcessLivesTest, MoreLivesThanThereIsRoomForAreTheLastOne) {
  uint32_t last = 0;
  for (uint64_t time = 2; time < 3 * symbolize::kMostLives; ++time) {
    lives_.Executed(7, time);
    last = lives_.OfProgram(7, time);
  }
  EXPECT_EQ(last, ProcessKey(7, symbolize::kMostLives - 1));
}

// Damaged records may have such a pid; the kernel never assigns it.
TEST_F(ProcessLivesTest, ANumberThatNoProcessHasStaysAsItIs) {
  lives_.OfProgram(0xffffffff, 2);
  lives_.Executed(0xffffffff, UINT64_MAX);
  EXPECT_EQ(lives_.OfProgram(0xffffffff, UINT64_MAX), 0xffffffffu);
}

}  // namespace
}  // namespace profiler::profile

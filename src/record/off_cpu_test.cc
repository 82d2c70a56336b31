#include "src/record/off_cpu.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace profiler::record {
namespace {

constexpr uint32_t kPid = 7, kTid = 8;

class OffCpuTest : public testing::Test {
 protected:
  void Out(uint64_t time, WaitKind kind = WaitKind::kBlocked) {
    off_cpu_.SwitchOut(kPid, kTid, 1, time, kind);
  }
  void In(uint64_t time) { off_cpu_.SwitchIn(kPid, kTid, 1, time); }
  void Sample(std::vector<uint64_t> chain) { off_cpu_.TakeSample(kPid, kTid, chain); }

  std::string Waits() const { return absl::StrJoin(waits_, "\n"); }
  std::string Times() const {
    std::vector<ThreadTimes> times = off_cpu_.times();
    std::sort(times.begin(), times.end(),
              [](const auto& a, const auto& b) { return a.tid < b.tid; });
    std::vector<std::string> lines;
    for (const ThreadTimes& thread : times) {
      lines.push_back(absl::StrCat(thread.tid, ": run ", thread.running, " preempted ",
                                   thread.preempted, " blocked ", thread.blocked, " unknown ",
                                   thread.unknown, thread.has_ended ? " ended" : ""));
    }
    return absl::StrJoin(lines, "\n");
  }

  std::vector<std::string> waits_;
  OffCpu off_cpu_{[this](const Wait& wait) {
    waits_.push_back(absl::StrCat(
        wait.tid, wait.kind == WaitKind::kBlocked ? " blocked " : " preempted ", wait.duration,
        " to ", wait.end, " in ", wait.chain.empty() ? "?" : absl::StrJoin(wait.chain, "<")));
  }};
};

TEST_F(OffCpuTest, TellsHowLongAThreadWasBlockedAndWhere) {
  off_cpu_.Begin(100);
  Sample({3, 2, 1});
  Out(110);
  In(150);
  EXPECT_EQ(Waits(), "8 blocked 40 to 150 in 3<2<1");
}

TEST_F(OffCpuTest, TellsWhatAThreadDidFromTheBeginningToTheEnd) {
  off_cpu_.Begin(100);
  Out(110, WaitKind::kPreempted);
  In(115);
  Out(120);
  In(150);
  off_cpu_.End(200);
  EXPECT_EQ(Times(), "8: run 65 preempted 5 blocked 30 unknown 0");
}

TEST_F(OffCpuTest, CountsAThreadThatNeverComesBackAsBlockedUpToTheEnd) {
  off_cpu_.Begin(100);
  Sample({1});
  Out(110);
  off_cpu_.End(200);
  EXPECT_EQ(Waits(), "8 blocked 90 to 200 in 1");
}

TEST_F(OffCpuTest, CountsNothingBeforeTheBeginning) {
  Sample({1});
  Out(50);
  off_cpu_.Begin(100);
  In(130);
  EXPECT_EQ(Waits(), "8 blocked 30 to 130 in 1");
}

TEST_F(OffCpuTest, LeavesOutWhatThreadsDoWhileCountingPauses) {
  off_cpu_.Begin(100);
  Sample({1});
  Out(110);
  off_cpu_.Pause(130);
  off_cpu_.Begin(200);
  In(250);
  off_cpu_.Pause(260);
  off_cpu_.End(300);
  EXPECT_EQ(Waits(), "8 blocked 70 to 250 in 1");
  EXPECT_EQ(Times(), "8: run 20 preempted 0 blocked 70 unknown 0");
}

TEST_F(OffCpuTest, BelievesRecordsOfBeforeAPauseThatComeAfterIt) {
  off_cpu_.Begin(100);
  Sample({1});
  Out(110);
  off_cpu_.Pause(130);
  In(125);
  off_cpu_.End(300);
  EXPECT_EQ(Waits(), "8 blocked 15 to 125 in 1");
  EXPECT_EQ(Times(), "8: run 15 preempted 0 blocked 15 unknown 0");
}

TEST_F(OffCpuTest, LetsASampledWaitStandForThoseOfAboutItsLengthThatWereNot) {
  off_cpu_.Begin(0);
  for (uint64_t time = 1000; time < 4000; time += 1000) {
    Out(time);
    In(time + 100);
  }
  Out(5000);
  In(105000);  // this time off the CPU is much longer than the other times
  Sample({1});
  Out(110000);
  In(110100);
  EXPECT_EQ(Waits(), "8 blocked 400 to 110100 in 1");
  off_cpu_.End(110100);
  EXPECT_EQ(waits_.back(), "8 blocked 100000 to 110100 in ?");
}

TEST_F(OffCpuTest, GivesWhatIsLeftAtTheEndToTheLastStackOfThatLength) {
  off_cpu_.Begin(0);
  Sample({1});
  Out(1000);
  In(1100);
  Out(2000);
  In(2100);
  off_cpu_.End(3000);
  EXPECT_EQ(Waits(), "8 blocked 100 to 1100 in 1\n8 blocked 100 to 3000 in 1");
}

TEST_F(OffCpuTest, TellsHowMuchIsEstimated) {
  off_cpu_.Begin(0);
  for (uint64_t time = 1000; time < 4000; time += 1000) {
    Out(time);
    In(time + 100);
  }
  Sample({1});
  Out(5000);
  In(5100);
  Out(6000);
  In(6100);
  off_cpu_.End(7000);
  const OffCpu::Estimate& estimate = off_cpu_.estimate(WaitKind::kBlocked);
  EXPECT_EQ(estimate.switches, 5);
  EXPECT_EQ(estimate.sampled, 1);
  EXPECT_EQ(estimate.time, 400);
  EXPECT_EQ(estimate.squares, 300 * 300 + 100 * 100);
  EXPECT_EQ(off_cpu_.estimate(WaitKind::kPreempted).time, 0);
}

TEST_F(OffCpuTest, TimesWithStacksOfTheirOwnAreNotEstimated) {
  off_cpu_.Begin(0);
  Sample({1});
  Out(1000);
  In(1100);
  Out(2000);
  In(9000);  // this time is in another length class, and has no stack
  off_cpu_.End(9000);
  EXPECT_EQ(off_cpu_.estimate(WaitKind::kBlocked).time, 0);
}

TEST_F(OffCpuTest, KeepsThePreemptedApartFromTheBlocked) {
  off_cpu_.Begin(0);
  Out(1000);
  In(1100);
  Sample({1});
  Out(2000, WaitKind::kPreempted);
  In(2100);
  EXPECT_EQ(Waits(), "8 preempted 100 to 2100 in 1");
}

TEST_F(OffCpuTest, DoesNotUseAStackForAnotherWait) {
  off_cpu_.Begin(0);
  Sample({1});
  Out(10);
  In(20);
  Out(30);
  In(1030);
  off_cpu_.End(1050);
  EXPECT_EQ(Waits(), "8 blocked 10 to 20 in 1\n8 blocked 1000 to 1050 in ?");
}

TEST_F(OffCpuTest, TakesANewThreadForReadyToRun) {
  off_cpu_.Begin(0);
  off_cpu_.Start(kPid, kTid, 10);
  In(15);
  off_cpu_.Exit(kTid, 40);
  EXPECT_EQ(Times(), "8: run 25 preempted 5 blocked 0 unknown 0 ended");
}

TEST_F(OffCpuTest, KeepsThreadsOfOneNumberApart) {
  off_cpu_.Begin(0);
  off_cpu_.Start(kPid, kTid, 10);
  In(10);
  off_cpu_.Start(kPid, kTid, 30);
  In(30);
  off_cpu_.End(50);
  EXPECT_EQ(Times(),
            "8: run 20 preempted 0 blocked 0 unknown 0 ended\n"
            "8: run 20 preempted 0 blocked 0 unknown 0");
}

TEST_F(OffCpuTest, SaysUnknownWhereASwitchWasLost) {
  off_cpu_.Begin(0);
  Out(10);
  Out(50);  // the time of the thread's return is unknown
  In(60);
  In(90);  // the time at which the thread left its CPU is unknown
  off_cpu_.End(100);
  EXPECT_EQ(Times(), "8: run 20 preempted 0 blocked 10 unknown 70");
}

TEST_F(OffCpuTest, BelievesThatAThreadWasFoundWaitingUntilARecordSaysOtherwise) {
  off_cpu_.Begin(0);
  off_cpu_.FoundWaiting(kPid, kTid);
  off_cpu_.FoundWaiting(kPid, 9);
  In(30);
  off_cpu_.SwitchOut(kPid, 9, 1, 20, WaitKind::kBlocked);
  off_cpu_.End(50);
  EXPECT_EQ(Times(),
            "8: run 20 preempted 0 blocked 30 unknown 0\n"
            "9: run 20 preempted 0 blocked 30 unknown 0");
}

TEST_F(OffCpuTest, AsksOnceForTheStacksOfThoseThatWaitForLong) {
  off_cpu_.Begin(0);
  Out(10);
  EXPECT_TRUE(off_cpu_.WithoutStack(5, 1).empty());
  ASSERT_EQ(off_cpu_.WithoutStack(10, 1).size(), 1);
  EXPECT_TRUE(off_cpu_.WithoutStack(10, 1).empty());
  off_cpu_.SetStack(kTid, 20, std::vector<uint64_t>{5, 4}, 0);
  In(30);
  EXPECT_EQ(Waits(), "8 blocked 20 to 30 in 5<4");
}

TEST_F(OffCpuTest, AsksAtOnceForTheStacksOfThoseThatWaitedBefore) {
  off_cpu_.Begin(100);
  off_cpu_.FoundWaiting(kPid, kTid);
  ASSERT_EQ(off_cpu_.WithoutStack(50, 1).size(), 1);
  off_cpu_.SetStack(kTid, 101, std::vector<uint64_t>{5, 4}, 0);
  In(130);
  EXPECT_EQ(Waits(), "8 blocked 30 to 130 in 5<4");
}

TEST_F(OffCpuTest, AsksForSoManyStacksAtOnce) {
  off_cpu_.Begin(0);
  for (uint32_t tid = 1; tid <= 5; ++tid) off_cpu_.FoundWaiting(kPid, tid);
  EXPECT_EQ(off_cpu_.WithoutStack(0, 2).size(), 2);
  EXPECT_EQ(off_cpu_.WithoutStack(0, 2).size(), 2);
  EXPECT_EQ(off_cpu_.WithoutStack(0, 2).size(), 1);
}

TEST_F(OffCpuTest, TakesNoStackOfAThreadThatIsBack) {
  off_cpu_.Begin(0);
  Out(10);
  In(20);
  off_cpu_.SetStack(kTid, 15, std::vector<uint64_t>{5, 4}, 0);
  Out(30);
  In(40);
  off_cpu_.End(40);
  EXPECT_EQ(Waits(), "8 blocked 20 to 40 in ?");
}

TEST_F(OffCpuTest, DropsAStackThatWasReadWhenTheThreadWasBackAlready) {
  off_cpu_.Begin(0);
  Out(10);
  ASSERT_EQ(off_cpu_.WithoutStack(10, 1).size(), 1);
  off_cpu_.SetStack(kTid, 31, std::vector<uint64_t>{5, 4}, 0);
  In(30);
  EXPECT_EQ(Waits(), "");
}

}  // namespace
}  // namespace profiler::record

#include "src/profile/running_threads.h"

#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::profile {
namespace {

class RunningThreadsTest : public testing::Test {
 protected:
  static perf_event::Attr Attr() {
    return perf_event::SampleAttr(perf_event::kSampleTid | perf_event::kSampleTime);
  }
  template <class Record>
  void Take(uint32_t type, uint16_t misc, const Record& record) {
    perf_event::RecordBuilder records(Attr());
    records.Add(type, misc, record);
    threads_.Take(records.last(), perf_event::RecordLayout(Attr()));
  }
  void In(uint32_t tid, uint64_t time) {
    Take(perf_event::kRecordSwitch, 0,
         perf_event::Switch{.sample_id = {.pid = 7, .tid = tid, .time = time}});
  }
  void Out(uint32_t tid, uint64_t time) {
    Take(perf_event::kRecordSwitch, perf_event::kMiscSwitchOut,
         perf_event::Switch{.sample_id = {.pid = 7, .tid = tid, .time = time}});
  }
  void Exit(uint32_t tid, uint64_t time) {
    Take(perf_event::kRecordExit, 0, perf_event::Task{.pid = 7, .tid = tid, .time = time});
  }

  RunningThreads threads_;
};

TEST_F(RunningThreadsTest, CountsThreadsBetweenTheirSwitches) {
  In(1, 100);
  EXPECT_EQ(threads_.parallelism(), 1u);
  In(2, 110);
  EXPECT_EQ(threads_.parallelism(), 2u);
  Out(1, 120);
  EXPECT_EQ(threads_.parallelism(), 1u);
}

TEST_F(RunningThreadsTest, CountsAThreadAsRunningThatWasSampledBeforeItsFirstSwitch) {
  In(1, 100);
  threads_.SampledRunning(2, 105);
  threads_.SampledRunning(2, 106);
  EXPECT_EQ(threads_.parallelism(), 2u);
}

TEST_F(RunningThreadsTest, IsNeverUnderOneForItIsAskedOfASample) {
  EXPECT_EQ(threads_.parallelism(), 1u);
}

TEST_F(RunningThreadsTest, LeavesOutIdleThreadsOfCpus) {
  In(0, 100);
  In(1, 100);
  EXPECT_EQ(threads_.parallelism(), 1u);
}

TEST_F(RunningThreadsTest, SharesTheTimeInWhichNoneRunsAmongThoseThatWait) {
  In(1, 100);
  In(2, 100);
  Out(1, 200);
  EXPECT_EQ(threads_.ShareOfIdleTime(100, 200), 0u);
  Out(2, 300);  // no thread runs until 500
  EXPECT_EQ(threads_.ShareOfIdleTime(200, 400), 50u);
  In(1, 500);
  EXPECT_EQ(threads_.ShareOfIdleTime(200, 500), 100u);
  EXPECT_EQ(threads_.ShareOfIdleTime(300, 400), 50u);
  Out(1, 600);
  Exit(2, 700);  // thread 1 alone from here on
  EXPECT_EQ(threads_.ShareOfIdleTime(600, 710), 60u);
  EXPECT_EQ(threads_.ShareOfIdleTime(200, 710), 160u);
}

}  // namespace
}  // namespace profiler::profile

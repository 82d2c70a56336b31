#include "src/count/counter_set.h"

#include <linux/perf_event.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::count {
namespace {

using ringbuf::FakeKernel;

class CounterSetTest : public testing::Test {
 protected:
  // Adds an event with this config. `leader` is the index of its group's leader.
  CounterEvent& Event(uint64_t config, size_t leader) {
    CounterEvent& event = events_.emplace_back();
    event.attr.type = PERF_TYPE_SOFTWARE;
    event.attr.size = PERF_ATTR_SIZE_VER0;
    event.attr.config = config;
    event.attr.disabled = 1;
    event.leader = leader;
    return event;
  }

  void Open() {
    auto set = CounterSet::Open(kernel_, events_, places_);
    ASSERT_TRUE(set.ok()) << set.status();
    set_ = *std::move(set);
  }

  // Returns a line for each event, with "value enabled/running" for each of its places.
  std::string Counts() {
    const auto counts = set_->Read();
    if (!counts.ok()) return std::string(counts.status().message());
    std::string text;
    for (size_t i = 0; i < counts->size(); ++i) {
      const Count& count = (*counts)[i];
      absl::StrAppendFormat(&text, "%d %d/%d%s", count.value, count.enabled, count.running,
                            (i + 1) % places_.size() == 0 ? "\n" : ", ");
    }
    return text;
  }

  FakeKernel kernel_;
  std::vector<CounterEvent> events_;
  std::vector<CounterPlace> places_{{.tid = 7}};
  std::unique_ptr<CounterSet> set_;
};

TEST_F(CounterSetTest, EachEventIsReadAtEachPlace) {
  Event(1, 0);
  Event(2, 1);
  places_ = {{.cpu = 0}, {.cpu = 1}};
  Open();
  kernel_.SetCounter(1, {100, 50, 50});
  kernel_.SetCounter(2, {7, 50, 25});
  EXPECT_EQ(Counts(), "100 50/50, 100 50/50\n7 50/25, 7 50/25\n");
  EXPECT_EQ(kernel_.calls(FakeKernel::Call::kReadCounter), 4u);
}

TEST_F(CounterSetTest, AGroupIsReadAtOnce) {
  Event(1, 0);
  Event(2, 0);
  Event(3, 2);
  Open();
  kernel_.SetCounter(1, {100, 50, 40});
  kernel_.SetCounter(2, {7, 0, 0});
  kernel_.SetCounter(3, {9, 50, 50});
  EXPECT_EQ(Counts(), "100 50/40\n7 50/40\n9 50/50\n");
  EXPECT_EQ(kernel_.calls(FakeKernel::Call::kReadCounter), 2u);
}

TEST_F(CounterSetTest, WhatTheMachineCannotCountIsLeftOut) {
  Event(1, 0);
  Event(2, 0);
  kernel_.FailCall(FakeKernel::Call::kOpenEvent, 1, ENOENT);
  Open();
  EXPECT_FALSE(set_->is_supported(0));
  EXPECT_TRUE(set_->is_supported(1));
  kernel_.SetCounter(2, {7, 5, 5});
  EXPECT_EQ(Counts(), "0 0/0\n7 5/5\n");
}

TEST_F(CounterSetTest, InheritedGroupsAreReadOneByOneWhereTheKernelWantsThat) {
  Event(1, 0);
  Event(2, 0);
  kernel_.FailCall(FakeKernel::Call::kOpenEvent, 1, EINVAL);
  Open();
  kernel_.SetCounter(1, {100, 50, 50});
  kernel_.SetCounter(2, {7, 50, 50});
  EXPECT_EQ(Counts(), "100 50/50\n7 50/50\n");
  EXPECT_EQ(kernel_.calls(FakeKernel::Call::kReadCounter), 2u);
}

TEST_F(CounterSetTest, WithoutTheRightToCountTheKernelUserSpaceIsCounted) {
  Event(1, 0);
  kernel_.FailCall(FakeKernel::Call::kOpenEvent, 1, EACCES);
  Open();
  EXPECT_TRUE(set_->excludes_kernel(0));
  EXPECT_TRUE(set_->is_supported(0));
}

TEST_F(CounterSetTest, AWeakGroupIsGivenUpWhereItDoesNotFit) {
  Event(1, 0).weak = true;
  Event(2, 0).weak = true;
  kernel_.FailCall(FakeKernel::Call::kOpenEvent, 2, EINVAL);
  Open();
  EXPECT_TRUE(set_->is_supported(0));
  EXPECT_TRUE(set_->is_supported(1));
  EXPECT_EQ(kernel_.calls(FakeKernel::Call::kOpenEvent), 4u);
}

TEST_F(CounterSetTest, AGroupThatDoesNotFitIsAnError) {
  Event(1, 0);
  Event(2, 0);
  kernel_.FailCall(FakeKernel::Call::kOpenEvent, 2, EINVAL);
  EXPECT_EQ(CounterSet::Open(kernel_, events_, places_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CounterSetTest, ThreadsThatAreGoneAreLeftOutWhileOthersLive) {
  Event(1, 0);
  places_ = {{.tid = 7}, {.tid = 8}};
  kernel_.SetThreadGone(7);
  Open();
  kernel_.SetCounter(1, {3, 2, 2});
  EXPECT_EQ(Counts(), "0 0/0, 3 2/2\n");
  kernel_.SetThreadGone(8);
  EXPECT_EQ(CounterSet::Open(kernel_, events_, places_).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CounterSetTest, APmuOfSeveralCpusIsAskedWhereItSays) {
  Event(1, 0).cpus = {1};
  places_ = {{.cpu = 0}, {.cpu = 1}};
  Open();
  kernel_.SetCounter(1, {3, 2, 2});
  EXPECT_EQ(Counts(), "0 0/0, 3 2/2\n");
}

TEST(CountTest, ACountOfAPartOfTheTimeIsScaled) {
  EXPECT_EQ((Count{.value = 10, .enabled = 100, .running = 25}.scaled()), 40);
  EXPECT_EQ((Count{.value = 10, .enabled = 100, .running = 0}.scaled()), 0);
  EXPECT_TRUE((Count{.value = 1, .enabled = 2, .running = 1}.is_guess()));
}

}  // namespace
}  // namespace profiler::count

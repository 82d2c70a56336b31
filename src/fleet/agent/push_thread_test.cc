#include "src/fleet/agent/push_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::agent {
namespace {

using fleet::Delivery;
using testing::HasSubstr;

// A server that first gives the answers that a test has queued, and then accepts everything.
class FakeSender final : public fleet::Sender {
 public:
  Delivery Send(std::span<const fleet::Window> batch) override {
    const std::lock_guard lock(mutex_);
    Delivery answer;
    if (!answers_.empty()) {
      answer = answers_.front();
      answers_.pop_front();
    }
    if (answer.outcome == Delivery::Outcome::kDelivered) windows_ += batch.size();
    if (answer.outcome != Delivery::Outcome::kTryAgain) settled_ += batch.size();
    changed_.notify_all();
    return answer;
  }
  size_t RowsOfBatch() const override { return 1; }

  void Answer(Delivery::Outcome outcome) {
    const std::lock_guard lock(mutex_);
    answers_.push_back({.outcome = outcome, .reason = "busy"});
  }
  // Waits until this many windows have a final answer.
  void Await(size_t windows) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return settled_ >= windows; });
  }
  size_t windows() {
    const std::lock_guard lock(mutex_);
    return windows_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Delivery> answers_;
  size_t windows_ = 0, settled_ = 0;
};

class PushThreadTest : public testing::Test {
 protected:
  PushThreadTest()
      : path_(testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    auto spool = fleet::SegmentSpool::Open(path_, {});
    EXPECT_TRUE(spool.ok()) << spool.status();
    spool_.emplace(*std::move(spool), 1);
  }

  void Add(int64_t second) {
    fleet::WindowBuilder builder = fleet::WebAndDatabase();
    builder.window().begin = second * 1'000'000'000;
    ASSERT_TRUE(spool_->Add(std::move(builder).Finish()).ok());
  }

  // Pushes until `windows` windows have a final answer. `now` of them get it from the thread that
  // is started here.
  AgentMetrics::Pushed Push(size_t windows, size_t now) {
    auto pushing = PushThread::Start(
        path_, {.name = "otlp+http://test", .sender = sender_}, *spool_,
        [this](std::string_view line) { absl::StrAppend(&said_, View(line), "\n"); },
        {.least_wait = std::chrono::nanoseconds(1), .most_wait = std::chrono::nanoseconds(1)});
    EXPECT_TRUE(pushing.ok()) << pushing.status();
    sender_->Await(windows);
    auto stopped = *std::move(pushing);
    PushThread* const thread = stopped.get();
    // The counters change only after the request is over.
    AgentMetrics::Pushed pushed = thread->Describe();
    while (pushed.segments + pushed.refused < now) pushed = thread->Describe();
    return pushed;
  }

  const std::string path_;
  std::optional<SharedSpool> spool_;
  const std::shared_ptr<FakeSender> sender_ = std::make_shared<FakeSender>();
  std::string said_;
};

TEST_F(PushThreadTest, SendsWhatIsInTheSpool) {
  Add(1);
  Add(2);
  const AgentMetrics::Pushed pushed = Push(2, 2);
  EXPECT_EQ(pushed.segments, 2u);
  EXPECT_EQ(pushed.samples, 12u);
  EXPECT_EQ(pushed.destination, "otlp+http://test");
  EXPECT_EQ(sender_->windows(), 2u);
  EXPECT_EQ(said_, "");
}

TEST_F(PushThreadTest, SaysOnceThatAServerIsAwayAndOnceThatItIsBack) {
  Add(1);
  for (int i = 0; i < 5; ++i) sender_->Answer(Delivery::Outcome::kTryAgain);
  const AgentMetrics::Pushed pushed = Push(1, 1);
  EXPECT_EQ(pushed.failures, 5u);
  EXPECT_EQ(said_,
            "otlp+http://test: busy; segments wait in the spool\n"
            "otlp+http://test: accepts segments again\n");
}

TEST_F(PushThreadTest, SetsAsideWhatTheServerWillNeverTake) {
  Add(1);
  sender_->Answer(Delivery::Outcome::kRefused);
  const AgentMetrics::Pushed pushed = Push(1, 1);
  EXPECT_EQ(pushed.refused, 1u);
  EXPECT_THAT(said_, HasSubstr("is not sent: busy\n"));
  EXPECT_FALSE(std::filesystem::is_empty(path_ + "/refused"));
}

TEST_F(PushThreadTest, WhatItSentIsNotSentAgainByTheNextOne) {
  Add(1);
  Push(1, 1);
  Add(2);
  Push(2, 1);
  EXPECT_EQ(sender_->windows(), 2u);
}

}  // namespace
}  // namespace profiler::agent

#include "src/fleet/agent/window_queue.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::agent {
namespace {

// A function object that takes recordings only when the test lets it.
class Taker {
 public:
  void Take(const FinishedRecording& recording) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return may_; });
    absl::StrAppend(&taken_, recording.samples, " ");
  }
  void AwaitBegun(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  void Allow() {
    const std::lock_guard lock(mutex_);
    may_ = true;
    changed_.notify_all();
  }
  std::string taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  bool may_ = false;
  std::string taken_;
};

FinishedRecording Of(uint64_t samples) { return {.samples = samples}; }

TEST(WindowQueue, TakesAllInTheirOrderBeforeItEnds) {
  Taker taker;
  taker.Allow();
  {
    WindowQueue queue([&](const FinishedRecording& recording) { taker.Take(recording); }, 10);
    for (const uint64_t samples : {1, 2, 3}) EXPECT_TRUE(queue.Add(Of(samples)));
  }
  EXPECT_EQ(taker.taken(), "1 2 3 ");
}

TEST(WindowQueue, RefusesMoreThanMayWait) {
  Taker taker;
  WindowQueue queue([&](const FinishedRecording& recording) { taker.Take(recording); });
  EXPECT_TRUE(queue.Add(Of(1)));
  taker.AwaitBegun(1);
  EXPECT_TRUE(queue.Add(Of(2)));
  EXPECT_TRUE(queue.Add(Of(3)));
  EXPECT_FALSE(queue.Add(Of(4)));
  taker.Allow();
  queue.Finish();
  EXPECT_EQ(taker.taken(), "1 2 3 ");
  EXPECT_FALSE(queue.Add(Of(5)));
}

}  // namespace
}  // namespace profiler::agent

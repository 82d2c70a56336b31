#include "ringbuf/drain_loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ringbuf/record_cursor.h"
#include "ringbuf/testing/consuming_epoll.h"
#include "ringbuf/testing/counted_new.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::ringbuf {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// A tick longer than any test, so that only readiness can cause a pass.
constexpr milliseconds kNever = hours(1);

perf_event_attr Attr() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  return attr;
}

// A fixture with events of some threads on CPUs 0 and 1, a loop over their rings, and the records
// it handed over.
class DrainLoopTest : public testing::Test {
 protected:
  void MakeSet(const std::vector<pid_t>& tids) {
    EventSetOptions options;
    options.attrs = {Attr()};
    options.cpus = {0, 1};
    options.ring_pages = 1;
    auto set = EventSet::Create(kernel_, options);
    ASSERT_TRUE(set.ok());
    events_ = *std::move(set);
    for (pid_t tid : tids) ASSERT_TRUE(events_->AddThread(tid).ok());
  }

  void MakeLoop(milliseconds tick) {
    auto loop = DrainLoop::Create(io_, *events_, {.tick = tick},
                                  [this](std::span<RingPass> rings) { return Take(rings); });
    ASSERT_TRUE(loop.ok());
    loop_ = *std::move(loop);
  }

  // Starts a loop and waits for its first pass. Without a tick, also waits until the loop sleeps.
  void StartLoop(const std::vector<pid_t>& tids, milliseconds tick = kNever) {
    MakeSet(tids);
    MakeLoop(tick);
    loop_->Start();
    RunUntil([this] { return loop_->passes() == 1; });
    if (tick < kNever) return;
    Settle();
    ASSERT_EQ(loop_->wakeups(), 1u);
  }

  absl::Status Take(std::span<RingPass> rings) {
    for (RingPass& ring : rings) {
      began_ = ring.began;
      if (leave_behind_ != 0) ring.consume -= leave_behind_;
      RecordCursor cursor(ring.bytes, bounce_);
      while (auto record = cursor.Next()) {
        taken_ += std::to_string(ring.cpu) + ":" + std::to_string(record->type()) + " ";
      }
      EXPECT_TRUE(cursor.status().ok());
    }
    if (during_pass_) std::exchange(during_pass_, nullptr)();
    return result_;
  }

  // Runs handlers until `condition` holds. The guard ends a test that would otherwise wait for
  // ever.
  void RunUntil(const std::function<bool()>& condition) {
    auto expired = std::make_shared<bool>(false);
    boost::asio::steady_timer guard(io_, std::chrono::seconds(10));
    guard.async_wait([expired](const boost::system::error_code& error) { *expired = !error; });
    while (!condition() && !*expired) io_.run_one();
    EXPECT_FALSE(*expired) << "nothing woke the loop up";
  }

  // Runs ready handlers many times over. A loop that does not sleep shows up in wakeups().
  void Settle() {
    for (int i = 0; i < 1000; ++i) io_.poll_one();
  }

  void Publish(int cpu, uint32_t type) { kernel_.Publish(cpu, MakeRecord(type, size_t{8})); }
  void PublishQuietly(int cpu, uint32_t type) {
    kernel_.PublishQuietly(cpu, MakeRecord(type, size_t{8}));
  }

  FakeKernel kernel_;
  boost::asio::io_context io_;
  std::unique_ptr<EventSet> events_;
  std::unique_ptr<DrainLoop> loop_;
  BounceBuffer bounce_;
  std::string taken_;  // "cpu:type" of each record handed over
  std::function<void()> during_pass_;
  size_t leave_behind_ = 0;  // bytes to leave in each ring
  uint64_t began_ = 0;       // RingPass::began of the last pass
  absl::Status result_;
};

TEST_F(DrainLoopTest, ReadinessOfOneRingIsAPassOverAll) {
  StartLoop({7});
  PublishQuietly(1, 5);
  Publish(0, 4);
  RunUntil([this] { return loop_->passes() == 2; });
  EXPECT_EQ(taken_, "0:4 1:5 ");
}

TEST_F(DrainLoopTest, WhatWasHandedOverIsConsumedAndNothingElse) {
  StartLoop({7});
  during_pass_ = [this] { PublishQuietly(0, 6); };  // after data_head was read
  Publish(0, 4);
  RunUntil([this] { return loop_->passes() == 2; });
  EXPECT_EQ(taken_, "0:4 ");
  EXPECT_EQ(kernel_.ring(0).tail(), 16u);
  EXPECT_TRUE(loop_->PassNow().ok());
  EXPECT_EQ(taken_, "0:4 0:6 ");
  EXPECT_EQ(kernel_.ring(0).tail(), 32u);
}

TEST_F(DrainLoopTest, WhatAPassDoesNotConsumeComesAgainWithTheNext) {
  StartLoop({7});
  leave_behind_ = 16;
  PublishQuietly(0, 4);
  PublishQuietly(0, 5);
  EXPECT_TRUE(loop_->PassNow().ok());
  EXPECT_EQ(taken_, "0:4 0:5 ");
  EXPECT_EQ(kernel_.ring(0).tail(), 16u);
  leave_behind_ = 0;
  PublishQuietly(0, 6);
  EXPECT_TRUE(loop_->PassNow().ok());
  EXPECT_EQ(taken_, "0:4 0:5 0:5 0:6 ");
  EXPECT_EQ(kernel_.ring(0).tail(), 48u);
}

TEST_F(DrainLoopTest, APassTellsWhenItBegan) {
  StartLoop({7});
  kernel_.AdvanceClock(500);
  PublishQuietly(0, 4);
  EXPECT_TRUE(loop_->PassNow().ok());
  EXPECT_EQ(began_, kernel_.MonotonicNow());
}

TEST_F(DrainLoopTest, RingsWithoutBytesAreNotHandedOver) {
  MakeSet({7});
  size_t rings_seen = 0;
  auto loop = DrainLoop::Create(io_, *events_, {}, [&](std::span<const RingPass> rings) {
    rings_seen += rings.size();
    EXPECT_FALSE(rings.empty());
    return absl::OkStatus();
  });
  EXPECT_TRUE((*loop)->PassNow().ok());
  EXPECT_EQ(rings_seen, 0u);
  PublishQuietly(1, 5);
  EXPECT_TRUE((*loop)->PassNow().ok());
  EXPECT_EQ(rings_seen, 1u);
}

TEST_F(DrainLoopTest, RecordsAcrossTheRingsEndComeWholeAtEveryOffset) {
  for (uint64_t start = FakeKernel::kPageSize - 48; start <= FakeKernel::kPageSize; start += 8) {
    kernel_.SetRingStart(start);
    MakeSet({7});
    MakeLoop(kNever);
    kernel_.Publish(0, MakeRecord(9, size_t{24}));
    kernel_.Publish(0, MakeRecord(3, size_t{8}));
    taken_.clear();
    EXPECT_TRUE(loop_->PassNow().ok());
    EXPECT_EQ(taken_, "0:9 0:3 ");
    EXPECT_EQ(kernel_.ring(0).tail(), start + 48);
    loop_.reset();
  }
}

TEST_F(DrainLoopTest, FullRingLosesRecordsAndTellsAfterThePass) {
  StartLoop({7});
  const std::vector<std::byte> record = MakeRecord(9, size_t{1016});
  while (kernel_.PublishQuietly(0, record)) {
  }
  kernel_.Wake(0);
  RunUntil([this] { return loop_->passes() == 2; });
  EXPECT_EQ(taken_, "0:9 0:9 0:9 ");
  kernel_.Publish(0, record);
  RunUntil([this] { return loop_->passes() == 3; });
  EXPECT_EQ(taken_, "0:9 0:9 0:9 0:2 0:9 ");  // PERF_RECORD_LOST is 2
}

TEST_F(DrainLoopTest, StartDrainsWhatWasPublishedBefore) {
  MakeSet({7});
  MakeLoop(kNever);
  PublishQuietly(0, 4);
  loop_->Start();
  RunUntil([this] { return loop_->passes() == 1; });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, RingsOfThreadsAddedLaterAreWatched) {
  StartLoop({}, milliseconds(1));
  ASSERT_TRUE(events_->AddThread(7).ok());
  RunUntil([this] { return loop_->passes() >= 3; });  // a tick has begun to watch the new rings
  Publish(0, 4);
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, ThreadsMayBeAddedDuringAPass) {
  StartLoop({7});
  during_pass_ = [this] { ASSERT_TRUE(events_->AddThread(8).ok()); };
  Publish(0, 4);
  RunUntil([this] { return loop_->passes() == 2; });
  Publish(1, 5);
  RunUntil([this] { return loop_->passes() >= 3; });
  EXPECT_EQ(taken_, "0:4 1:5 ");
}

// ---- trap (a): asking for readiness clears it

TEST_F(DrainLoopTest, WakeUpDuringAPassIsNotSwallowedByReArming) {
  ConsumingEpoll consuming(kernel_);
  StartLoop({7});
  during_pass_ = [this] { Publish(0, 6); };  // after data_head was read
  Publish(0, 4);
  // Re-arming after the pass would swallow this wake-up, and record 6 would stay unread until the
  // tick.
  RunUntil([this] { return taken_ == "0:4 0:6 "; });
  Settle();
  EXPECT_EQ(loop_->passes(), 3u);
}

TEST_F(DrainLoopTest, ReadinessThatArmingSwallowsIsDrainedAtOnce) {
  ConsumingEpoll consuming(kernel_);
  MakeSet({7});
  MakeLoop(kNever);
  Publish(0, 4);  // swallowed when Start adds the descriptor
  loop_->Start();
  RunUntil([this] { return loop_->passes() >= 1; });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, TickDrainsWhatReadinessDoesNotTellOf) {
  StartLoop({7}, milliseconds(1));
  Publish(0, 4);
  kernel_.ConsumeReadiness();  // imitates a poll by another process
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, EveryWakeUpIsAnsweredWhenPollingConsumes) {
  ConsumingEpoll consuming(kernel_);
  StartLoop({7, 8});
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    Publish(i % 2, 9);
    expected += i % 2 == 0 ? "0:9 " : "1:9 ";
    RunUntil([&] { return taken_ == expected; });
    ASSERT_EQ(taken_, expected);
  }
}

// ---- traps (b) and (c): hang-ups

TEST_F(DrainLoopTest, SleepsAfterTheLastThreadHasHungUp) {
  StartLoop({7});
  kernel_.HangUp(7);
  RunUntil([this] { return loop_->wakeups() > 1; });
  Settle();
  const uint64_t wakeups = loop_->wakeups();
  EXPECT_LE(wakeups, 3u);  // at most one wake-up for each descriptor of the thread
  Settle();
  EXPECT_EQ(loop_->wakeups(), wakeups);
}

TEST_F(DrainLoopTest, RecordsWrittenBeforeTheHangUpAreDrained) {
  StartLoop({7});
  PublishQuietly(0, 4);
  kernel_.HangUp(7);
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, RingOutlivesItsOwnerAndWakesThroughAnotherThread) {
  ConsumingEpoll consuming(kernel_);
  StartLoop({7, 8});
  kernel_.HangUp(7);
  RunUntil([this] { return loop_->wakeups() > 1; });
  Settle();
  Publish(0, 4);
  Publish(1, 5);
  RunUntil([this] { return taken_.size() == 8; });
  EXPECT_EQ(taken_, "0:4 1:5 ");
}

TEST_F(DrainLoopTest, RingOutlivesItsOwnerAtTheTickToo) {
  StartLoop({7}, milliseconds(1));
  kernel_.HangUp(7);
  RunUntil([this] { return loop_->wakeups() > 5; });
  PublishQuietly(0, 4);
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, PassesOverThreadsThatHaveHungUpToTheOneThatLives) {
  std::vector<pid_t> tids(50);
  for (size_t i = 0; i < tids.size(); ++i) tids[i] = static_cast<pid_t>(100 + i);
  StartLoop(tids);
  for (pid_t tid = 149; tid > 100; --tid) kernel_.HangUp(tid == 125 ? 100 : tid);
  RunUntil([this] { return loop_->wakeups() > 1; });
  Settle();
  EXPECT_LE(loop_->wakeups(), 3u);  // not one for each thread
  Publish(1, 5);                    // thread 125 is alive
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "1:5 ");
}

TEST_F(DrainLoopTest, ThreadAddedAfterAllHaveHungUpIsWatched) {
  StartLoop({7}, milliseconds(1));
  kernel_.HangUp(7);
  RunUntil([this] { return loop_->wakeups() > 5; });
  loop_->Stop();
  MakeLoop(kNever);
  ASSERT_TRUE(events_->AddThread(8).ok());
  loop_->Start();
  RunUntil([this] { return loop_->passes() >= 1; });
  Settle();
  Publish(0, 4);
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
}

// ---- sleep

TEST_F(DrainLoopTest, SleepsWhenNothingHappens) {
  StartLoop({7, 8});
  Settle();
  EXPECT_EQ(loop_->wakeups(), 1u);  // the first pass
  EXPECT_EQ(loop_->passes(), 1u);
}

TEST_F(DrainLoopTest, SleepsAgainAfterAWakeUp) {
  StartLoop({7, 8});
  Publish(0, 4);  // its pipe stays readable, which edge-triggered epoll reports only once
  RunUntil([this] { return loop_->passes() == 2; });
  Settle();
  EXPECT_LE(loop_->wakeups(), 3u);
}

TEST_F(DrainLoopTest, IdleLoopWakesUpOnceATick) {
  constexpr milliseconds kTick(2);
  MakeSet({7});
  MakeLoop(kTick);
  const auto start = std::chrono::steady_clock::now();
  loop_->Start();
  RunUntil([this] { return loop_->wakeups() == 26; });
  // The first wake-up comes at once. A timer is never early, so this holds on any machine.
  EXPECT_GE(std::chrono::steady_clock::now() - start, 25 * kTick);
  EXPECT_EQ(loop_->passes(), 26u);
}

TEST_F(DrainLoopTest, StoppedLoopHasNoWorkLeft) {
  StartLoop({7}, milliseconds(1));
  loop_->Stop();
  io_.restart();
  io_.run();  // returns, since nothing is pending
  const uint64_t passes = loop_->passes();
  PublishQuietly(0, 4);
  io_.restart();
  io_.run();
  EXPECT_EQ(loop_->passes(), passes);
  EXPECT_TRUE(loop_->PassNow().ok());
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, MayBeStartedAgain) {
  StartLoop({7});
  loop_->Stop();
  loop_->Start();
  Settle();
  const uint64_t wakeups = loop_->wakeups();
  Publish(0, 4);
  RunUntil([this] { return !taken_.empty(); });
  EXPECT_EQ(taken_, "0:4 ");
  EXPECT_EQ(loop_->wakeups(), wakeups + 1);
}

TEST_F(DrainLoopTest, MayGoWhileHandlersAreQueued) {
  MakeSet({7});
  MakeLoop(milliseconds(0));
  loop_->Start();
  Publish(0, 4);
  io_.run_one();  // both tick and readiness are due: one runs, the other is queued
  EXPECT_EQ(taken_, "0:4 ");
  Publish(0, 5);
  loop_.reset();
  io_.run();
  EXPECT_EQ(taken_, "0:4 ");
}

// ---- errors

TEST_F(DrainLoopTest, AnErrorOfThePassEndsTheLoopAndConsumesNothing) {
  StartLoop({7}, milliseconds(1));
  result_ = ErrnoStatus(ENOSPC, "perf.data");
  Publish(0, 4);
  RunUntil([this] { return !loop_->status().ok(); });
  EXPECT_EQ(loop_->status().message(), "perf.data: No space left on device");
  EXPECT_EQ(kernel_.ring(0).tail(), 0u);
  io_.restart();
  io_.run();  // nothing is pending
  EXPECT_EQ(taken_, "0:4 ");
  EXPECT_EQ(ErrnoOf(loop_->PassNow()), ENOSPC);
  EXPECT_EQ(taken_, "0:4 ");
  loop_->Start();  // an ended loop stays ended
  io_.restart();
  io_.run();
  EXPECT_EQ(taken_, "0:4 ");
}

TEST_F(DrainLoopTest, AnErrorOfPassNowEndsTheLoopToo) {
  StartLoop({7}, milliseconds(1));
  result_ = ErrnoStatus(EIO, "perf.data");
  PublishQuietly(0, 4);
  EXPECT_EQ(ErrnoOf(loop_->PassNow()), EIO);
  EXPECT_EQ(ErrnoOf(loop_->status()), EIO);
  io_.restart();
  io_.run();  // nothing is pending
}

// ---- cost

TEST_F(DrainLoopTest, SteadyStateAllocatesNothing) {
  MakeSet({7, 8});
  uint64_t bytes = 0;
  auto loop = DrainLoop::Create(io_, *events_, {.tick = milliseconds(1)},
                                [&](std::span<const RingPass> rings) {
                                  for (const RingPass& ring : rings) bytes += ring.bytes.size();
                                  return absl::OkStatus();
                                });
  ASSERT_TRUE(loop.ok());
  (*loop)->Start();
  const std::vector<std::byte> record = MakeRecord(9, size_t{24});
  uint64_t allocated = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    kernel_.Publish(static_cast<int>(i % 2), record);
    const uint64_t before = NewCalls();
    while (bytes < (i + 1) * 32) io_.run_one();
    if (i >= 20) allocated += NewCalls() - before;
  }
  EXPECT_EQ(allocated, 0u);
  EXPECT_GE((*loop)->passes(), 200u);
}

}  // namespace
}  // namespace profiler::ringbuf

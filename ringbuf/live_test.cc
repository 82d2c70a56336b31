// Tests rings of the real kernel with events of our own threads. If the kernel forbids such events,
// each test says so and is skipped.

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ringbuf/drain_loop.h"
#include "ringbuf/record_cursor.h"

namespace profiler::ringbuf {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Samples of 32 bytes: header, id, tid, time.
perf_event_attr CpuClock() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 200'000;  // ns
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = 1024;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

perf_event_attr Sideband() {
  perf_event_attr attr = CpuClock();
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.task = 1;
  attr.comm = 1;
  attr.sample_id_all = 1;
  return attr;
}

std::vector<int> OnlineCpus() {
  std::vector<int> cpus;
  const long count = sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < count; ++cpu) cpus.push_back(cpu);
  return cpus;  // the set skips offline CPUs
}

EventSetOptions Options(std::vector<perf_event_attr> attrs) {
  EventSetOptions options;
  options.attrs = std::move(attrs);
  options.cpus = OnlineCpus();
  options.ring_pages = 16;
  options.min_ring_pages = 1;
  return options;
}

// Returns why no event can be opened here; empty if one can.
std::string Obstacle() {
  const auto fd = LinuxKernel().OpenEvent(CpuClock(), 0, -1, -1);
  return fd.ok() ? "" : std::string(fd.status().message());
}

#define SKIP_WITHOUT_EVENTS()                                                            \
  if (const std::string obstacle = Obstacle(); !obstacle.empty()) {                      \
    GTEST_SKIP() << "skipped, because this kernel opens no event of ours: " << obstacle; \
  }

pid_t OwnTid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// A thread that spins until End is called.
class BusyThread {
 public:
  BusyThread() : thread_([this] { Spin(); }) {
    while (tid_ == 0) std::this_thread::yield();
  }
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;
  ~BusyThread() { End(); }

  pid_t tid() const { return tid_; }
  void End() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Spin() {
    tid_ = OwnTid();
    while (!ended_) {
    }
  }

  std::atomic<pid_t> tid_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

// A counter of the samples that a loop hands over, with one count per thread.
class SampleCounter {
 public:
  absl::Status Take(std::span<const RingPass> rings) {
    for (const RingPass& ring : rings) {
      RecordCursor cursor(ring.bytes, bounce_);
      while (auto record = cursor.Next()) {
        if (record->type() != PERF_RECORD_SAMPLE) continue;
        struct Sample {
          uint64_t id;
          uint32_t pid, tid;
          uint64_t time;
        } sample{};
        std::memcpy(&sample, record->body().data(), sizeof(sample));
        ++samples_[static_cast<pid_t>(sample.tid)];
      }
      if (!cursor.status().ok()) return cursor.status();
    }
    return absl::OkStatus();
  }
  uint64_t of(pid_t tid) { return samples_[tid]; }

 private:
  BounceBuffer bounce_;
  std::map<pid_t, uint64_t> samples_;
};

TEST(Live, RecordsBusyThreadsAndGoesOnWhenTheRingsOwnerExits) {
  SKIP_WITHOUT_EVENTS();
  auto set = EventSet::Create(LinuxKernel(), Options({CpuClock(), Sideband()}));
  ASSERT_TRUE(set.ok()) << set.status();
  BusyThread owner;
  BusyThread other;
  for (pid_t tid : {owner.tid(), other.tid()}) {
    const absl::Status added = (*set)->AddThread(tid);
    ASSERT_TRUE(added.ok()) << added;
  }
  EXPECT_EQ((*set)->events().size(), (*set)->rings().size() * 4);

  boost::asio::io_context io;
  SampleCounter counter;
  auto loop =
      DrainLoop::Create(io, **set, {.tick = milliseconds(20)},
                        [&](std::span<const RingPass> rings) { return counter.Take(rings); });
  ASSERT_TRUE(loop.ok()) << loop.status();
  (*loop)->Start();
  ASSERT_TRUE((*set)->Enable(0).ok());
  ASSERT_TRUE((*set)->Enable(1).ok());
  while (counter.of(owner.tid()) < 100 || counter.of(other.tid()) < 100) io.run_one();

  owner.End();  // the thread that owns the rings
  const uint64_t before = counter.of(other.tid());
  while (counter.of(other.tid()) < before + 200) io.run_one();
  EXPECT_TRUE((*loop)->status().ok());

  // When all threads have ended, the loop sleeps from tick to tick, although every descriptor has
  // hung up.
  other.End();
  while (io.poll() != 0) {
  }
  const uint64_t wakeups = (*loop)->wakeups();
  const auto start = steady_clock::now();
  while ((*loop)->wakeups() < wakeups + 10) io.run_one();
  EXPECT_GE(steady_clock::now() - start, 8 * milliseconds(20));
}

TEST(Live, BlockedThreadsCostNoWakeUpsButTicks) {
  SKIP_WITHOUT_EVENTS();
  auto set = EventSet::Create(LinuxKernel(), Options({CpuClock()}));
  ASSERT_TRUE(set.ok()) << set.status();
  std::mutex gate;
  gate.lock();
  std::atomic<pid_t> tid{0};
  std::thread blocked([&] {
    tid = OwnTid();
    gate.lock();
    gate.unlock();
  });
  while (tid == 0) std::this_thread::yield();
  ASSERT_TRUE((*set)->AddThread(tid).ok());
  ASSERT_TRUE((*set)->Enable(0).ok());
  boost::asio::io_context io;
  auto loop = DrainLoop::Create(io, **set, {.tick = milliseconds(10)},
                                [](std::span<const RingPass>) { return absl::OkStatus(); });
  ASSERT_TRUE(loop.ok());
  const auto start = steady_clock::now();
  (*loop)->Start();
  while ((*loop)->wakeups() < 21) io.run_one();
  EXPECT_GE(steady_clock::now() - start, 19 * milliseconds(10));
  gate.unlock();
  blocked.join();
}

TEST(Live, ThreadThatHasExitedIsNotFound) {
  SKIP_WITHOUT_EVENTS();
  auto set = EventSet::Create(LinuxKernel(), Options({CpuClock()}));
  ASSERT_TRUE(set.ok()) << set.status();
  pid_t gone = 0;
  std::thread([&] { gone = OwnTid(); }).join();
  EXPECT_EQ((*set)->AddThread(gone).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE((*set)->AddThread(OwnTid()).ok());
}

TEST(Live, TwoThousandThreadsAreAddedAndClosed) {
  SKIP_WITHOUT_EVENTS();
  constexpr size_t kThreads = 2000;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  EventSetOptions options = Options({CpuClock(), Sideband()});
  const size_t descriptors = kThreads * options.cpus.size() * 2;
  if (limit.rlim_max < descriptors + 300 && geteuid() != 0) {
    GTEST_SKIP() << "skipped, because " << descriptors << " descriptors are more than the hard "
                 << "limit of " << limit.rlim_max;
  }
  options.expected_threads = kThreads;

  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::vector<pid_t> tids;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      tids.push_back(OwnTid());
      changed.notify_all();
      changed.wait(lock, [&] { return ended; });
    });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return tids.size() == kThreads; });
  }

  auto set = EventSet::Create(LinuxKernel(), options);
  ASSERT_TRUE(set.ok()) << set.status();
  const auto start = steady_clock::now();
  for (pid_t tid : tids) {
    const absl::Status added = (*set)->AddThread(tid);
    ASSERT_TRUE(added.ok()) << added;
  }
  const auto opened = steady_clock::now();
  EXPECT_TRUE((*set)->Enable(0).ok());
  const auto enabled = steady_clock::now();
  EXPECT_EQ((*set)->events().size(), kThreads * (*set)->rings().size() * 2);
  set->reset();
  const auto closed = steady_clock::now();
  {
    std::unique_lock lock(mutex);
    ended = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  const auto ms = [](auto duration) {
    return static_cast<long>(std::chrono::duration_cast<milliseconds>(duration).count());
  };
  printf("%zu threads: opened in %ld ms, enabled in %ld ms, closed in %ld ms\n", kThreads,
         ms(opened - start), ms(enabled - opened), ms(closed - enabled));
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace profiler::ringbuf

#include "ringbuf/drain_loop.h"

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <cassert>
#include <cerrno>
#include <utility>
#include <vector>

namespace profiler::ringbuf {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

// One edge-triggered epoll instance watches all rings, and the io_context watches that instance:
//
//   event fds ──EPOLLIN|EPOLLET──▶ epoll_ ──async_wait──▶ io_context
//
// So one async_wait re-arms all rings at once. epoll_wait is called only to find hang-ups.
class AsioDrainLoop final : public DrainLoop {
 public:
  AsioDrainLoop(boost::asio::io_context& io, EventSet& events, DrainLoopOptions options,
                OnPass on_pass)
      : events_(events),
        options_(options),
        on_pass_(std::move(on_pass)),
        epoll_(io),
        timer_(io),
        alive_(std::make_shared<char>()) {}
  // Handlers that are still queued do nothing, because alive_ has expired.
  ~AsioDrainLoop() override = default;

  absl::Status Open() {
    const int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) return ErrnoStatus(errno, "epoll_create1");
    error_code error;
    epoll_.assign(fd, error);
    if (!error) return absl::OkStatus();
    close(fd);
    return ErrnoStatus(error.value(), "watching the rings");
  }

  void Start() override {
    if (running_ || !status_.ok()) return;
    running_ = true;
    ++run_;
    WatchNewRings();
    WaitForReadiness();
    WaitForTick(std::chrono::milliseconds(0));
  }

  void Stop() override {
    if (!running_) return;
    running_ = false;
    error_code ignored;
    epoll_.cancel(ignored);
    timer_.cancel();
  }

  absl::Status PassNow() override {
    if (!status_.ok()) return status_;
    absl::Status status = Pass();
    if (!status.ok()) End(status);
    return status;
  }

  const absl::Status& status() const override { return status_; }
  uint64_t passes() const override { return passes_; }
  uint64_t wakeups() const override { return wakeups_; }

 private:
  void WaitForReadiness() {
    epoll_.async_wait(stream_descriptor::wait_read, [this, alive = std::weak_ptr<char>(alive_),
                                                     run = run_](const error_code& error) {
      if (alive.expired() || !running_ || run != run_) return;
      if (error) return End(ErrnoStatus(error.value(), "waiting for the rings"));
      ++wakeups_;
      StopWatchingHungUp();
      WatchNewRings();
      // Re-arm first, drain second: trap (a) of drain_loop.h. PassNow keeps its error in status().
      WaitForReadiness();
      PassNow().IgnoreError();
    });
  }

  void WaitForTick(std::chrono::milliseconds delay) {
    timer_.expires_after(delay);
    timer_.async_wait(
        [this, alive = std::weak_ptr<char>(alive_), run = run_](const error_code& error) {
          if (alive.expired() || !running_ || run != run_) return;
          if (error) return End(ErrnoStatus(error.value(), "waiting for the tick"));
          ++wakeups_;
          WatchNewRings();
          WaitForTick(options_.tick);
          PassNow().IgnoreError();
        });
  }

  // Replaces each descriptor that has hung up by the ring's next event: traps (b) and (c) of
  // drain_loop.h. If the next event has hung up, too, epoll reports it at once, and the loop
  // replaces it again, until no event of the ring is left.
  void StopWatchingHungUp() {
    std::array<epoll_event, 16> reported;
    while (true) {
      const int count = epoll_wait(epoll_.native_handle(), reported.data(), reported.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      bool replaced = false;
      for (int i = 0; i < count; ++i) {
        if ((reported[i].events & (EPOLLHUP | EPOLLERR)) == 0) continue;
        const size_t ring = reported[i].data.u64;
        epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, watched_[ring], nullptr);
        Watch(ring, events_.NextWatch(ring));
        replaced = true;
      }
      if (!replaced && count < static_cast<int>(reported.size())) return;
    }
  }

  void WatchNewRings() {
    const std::vector<EventSet::Ring>& rings = events_.rings();
    for (size_t ring = 0; ring < watched_.size(); ++ring) {
      if (watched_[ring] < 0) Watch(ring, events_.NextWatch(ring));
    }
    while (watched_.size() < rings.size()) {
      const size_t ring = watched_.size();
      watched_.push_back(-1);
      Watch(ring, rings[ring].fd);
    }
  }

  // Adds a descriptor to epoll. If epoll refuses it, the tick still drains its ring, only later.
  void Watch(size_t ring, int fd) {
    watched_[ring] = -1;
    if (fd < 0) return;
    epoll_event interest{};
    interest.events = EPOLLIN | EPOLLET;
    interest.data.u64 = ring;
    if (epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, fd, &interest) == 0) watched_[ring] = fd;
  }

  absl::Status Pass() {
    assert(!passing_);
    ++passes_;
    read_.clear();
    views_.clear();
    const uint64_t began = events_.MonotonicNow();
    for (const EventSet::Ring& ring : events_.rings()) {
      RingView& view = ring.memory->view();
      const RingBytes bytes = view.Peek();
      if (bytes.size() == 0) continue;
      read_.push_back({ring.cpu, bytes, view.capacity(), began, bytes.size()});
      views_.push_back(&view);
    }
    if (read_.empty()) return absl::OkStatus();
    passing_ = true;
    absl::Status status = on_pass_(read_);
    passing_ = false;
    if (!status.ok()) return status;
    for (size_t i = 0; i < read_.size(); ++i) views_[i]->Consume(read_[i].consume);
    return absl::OkStatus();
  }

  void End(absl::Status status) {
    status_ = std::move(status);
    Stop();
  }

  EventSet& events_;
  const DrainLoopOptions options_;
  const OnPass on_pass_;
  stream_descriptor epoll_;
  boost::asio::steady_timer timer_;
  const std::shared_ptr<char> alive_;  // expired for a queued handler that outlives the loop
  bool running_ = false;
  bool passing_ = false;
  uint64_t run_ = 0;  // number of Start calls; a queued handler of an earlier Start does nothing
  // [i]: the descriptor of ring i of the set that epoll_ watches; -1 if it watches none.
  std::vector<int> watched_;
  std::vector<RingPass> read_;
  std::vector<RingView*> views_;  // [i]: the view from which read_[i] was read
  uint64_t passes_ = 0;
  uint64_t wakeups_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DrainLoop>> DrainLoop::Create(boost::asio::io_context& io,
                                                             EventSet& events,
                                                             DrainLoopOptions options,
                                                             OnPass on_pass) {
  try {
    auto loop = std::make_unique<AsioDrainLoop>(io, events, options, std::move(on_pass));
    PROFILER_RETURN_IF_ERROR(loop->Open());
    return loop;
  } catch (const boost::system::system_error& error) {
    // The io_context creates its own epoll instance with its first descriptor or timer, and throws
    // on failure.
    return ErrnoStatus(error.code().value(), "setting up the drain loop");
  }
}

}  // namespace profiler::ringbuf

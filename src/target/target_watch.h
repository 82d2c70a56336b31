// Tells when all targets of a recording have exited.

#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "src/base/status.h"

namespace profiler::target {

// Calls `handler` once, when `fd` has something to read. `descriptor` takes it over: whoever owns
// `fd` releases it there before it is closed. Errors: those of epoll_ctl(2).
absl::Status OnReadable(boost::asio::posix::stream_descriptor& descriptor, int fd,
                        std::function<void()> handler);

// One thread: that of the io_context. A process is watched by its pidfd, since Linux 5.3, and so is
// a thread, since 6.9; before that their states in /proc are looked at five times a second.
class TargetWatch {
 public:
  // `io` must outlive it. Calls `on_end`, once, when all are gone; never from here.
  TargetWatch(boost::asio::io_context& io, std::function<void()> on_end)
      : io_(io), poll_timer_(io), on_end_(std::move(on_end)) {}

  // All processes and threads to watch, once. Errors: those of pidfd_open(2) but ESRCH: one that is
  // gone already counts as that.
  absl::Status Watch(const std::vector<pid_t>& pids, const std::vector<pid_t>& tids);

 private:
  absl::Status WatchProcess(pid_t pid);
  absl::Status WatchThread(pid_t tid);
  struct Polled {
    pid_t id = 0;
    bool is_thread = false;
  };
  absl::Status WatchByPolling(Polled target);
  void Start();
  absl::Status Watch(int pidfd);
  void Gone();
  void Poll();

  boost::asio::io_context& io_;
  std::vector<std::unique_ptr<boost::asio::posix::stream_descriptor>> pidfds_;
  std::vector<Polled> polled_;
  boost::asio::steady_timer poll_timer_;
  std::function<void()> on_end_;
  size_t alive_ = 0;
};

}  // namespace profiler::target

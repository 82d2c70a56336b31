// Notices when all targets of a recording have exited.

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

// A watch of the targets. Use it only in the thread that runs the io_context. Watches processes by
// pidfd since Linux 5.3, and threads since 6.9. On older kernels, checks their states in /proc five
// times per second.
class TargetWatch {
 public:
  // `io` must outlive this object. Calls `on_end` once, when all targets are gone, and
  // never from within Watch.
  TargetWatch(boost::asio::io_context& io, std::function<void()> on_end)
      : io_(io), poll_timer_(io), on_end_(std::move(on_end)) {}

  // Watches these processes and threads. Call it once. Errors: those of pidfd_open(2), except
  // ESRCH, because a target may be gone already.
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
  void PollAfter(std::chrono::milliseconds wait);

  boost::asio::io_context& io_;
  std::vector<std::unique_ptr<boost::asio::posix::stream_descriptor>> pidfds_;
  std::vector<Polled> polled_;
  boost::asio::steady_timer poll_timer_;
  std::function<void()> on_end_;
  size_t alive_ = 0;
};

}  // namespace profiler::target

#include "src/machine/target/target_watch.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>

#include "src/base/unique_fd.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::target {
namespace {

constexpr unsigned kPidfdThread = O_EXCL;  // PIDFD_THREAD of Linux 6.9
constexpr std::chrono::milliseconds kPollInterval{200};

// Converts the errno of pidfd_open(2) to a status: OK if the target is gone already, otherwise the
// error.
absl::Status GoneOrFailed() {
  return errno == ESRCH ? absl::OkStatus() : ErrnoStatus(errno, "pidfd_open");
}

int OpenPidfd(pid_t id, unsigned flags) {
  return static_cast<int>(syscall(SYS_pidfd_open, id, flags));
}

}  // namespace

absl::Status TargetWatch::Watch(const std::vector<pid_t>& pids, const std::vector<pid_t>& tids) {
  for (const pid_t pid : pids) PROFILER_RETURN_IF_ERROR(WatchProcess(pid));
  for (const pid_t tid : tids) PROFILER_RETURN_IF_ERROR(WatchThread(tid));
  Start();
  return absl::OkStatus();
}

absl::Status TargetWatch::WatchProcess(pid_t pid) {
  const int pidfd = OpenPidfd(pid, 0);
  if (pidfd >= 0) return Watch(pidfd);
  return errno == ENOSYS ? WatchByPolling({pid}) : GoneOrFailed();
}

absl::Status TargetWatch::WatchThread(pid_t tid) {
  const int pidfd = OpenPidfd(tid, kPidfdThread);
  if (pidfd >= 0) return Watch(pidfd);
  return errno == EINVAL || errno == ENOSYS ? WatchByPolling({tid, true}) : GoneOrFailed();
}

absl::Status TargetWatch::WatchByPolling(Polled target) {
  polled_.push_back(target);
  ++alive_;
  return absl::OkStatus();
}

absl::Status TargetWatch::Watch(int pidfd) {
  UniqueFd owned(pidfd);
  auto descriptor = std::make_unique<boost::asio::posix::stream_descriptor>(io_);
  boost::system::error_code error;
  descriptor->assign(owned.get(), error);
  if (error) return ErrnoStatus(error.value(), "watching a pidfd");
  owned.Release();
  descriptor->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& failed) {
                           if (!failed) Gone();
                         });
  pidfds_.push_back(std::move(descriptor));
  ++alive_;
  return absl::OkStatus();
}

void TargetWatch::Start() {
  if (alive_ == 0) boost::asio::post(io_, on_end_);
  if (!polled_.empty()) PollAfter(std::chrono::milliseconds(0));
}

void TargetWatch::Gone() {
  if (--alive_ == 0) on_end_();
}

void TargetWatch::Poll() {
  const size_t gone = std::erase_if(polled_, [](const Polled& target) {
    if (target.is_thread) return !procfs::ThreadLives({}, target.id);
    return !procfs::LivingThread({}, target.id).has_value();
  });
  for (size_t i = 0; i < gone; ++i) Gone();
  if (!polled_.empty()) PollAfter(kPollInterval);
}

void TargetWatch::PollAfter(std::chrono::milliseconds wait) {
  poll_timer_.expires_after(wait);
  poll_timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) Poll();
  });
}

}  // namespace profiler::target

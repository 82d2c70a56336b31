#include "src/fleet/agent/window_queue.h"

#include <sys/resource.h>

#include <utility>

namespace profiler::agent {
namespace {

// nice 5 leaves a third of a normal CPU share. With a smaller share, naming would be so late that
// processes have ended before their names are read.
constexpr int kNice = 5;

}  // namespace

WindowQueue::WindowQueue(std::function<void(FinishedRecording)> take, size_t most_waiting)
    : take_(std::move(take)), most_waiting_(most_waiting), thread_([this] { Run(); }) {}

WindowQueue::~WindowQueue() { Finish(); }

bool WindowQueue::Add(FinishedRecording recording) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting_ || is_closed_) return false;
  waiting_.push_back(std::move(recording));
  changed_.notify_all();
  return true;
}

void WindowQueue::Run() {
  // On Linux, setpriority affects only this thread and the processes that it starts.
  setpriority(PRIO_PROCESS, 0, kNice);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    FinishedRecording recording = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    take_(std::move(recording));
    lock.lock();
  }
}

void WindowQueue::Finish() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace profiler::agent

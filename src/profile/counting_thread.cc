#include "src/profile/counting_thread.h"

#include <signal.h>

#include <utility>

namespace profiler::profile {

CountingThread::~CountingThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CountingThread::Start() {
  // A new thread inherits the signal mask.
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

void CountingThread::Pass(ChainBatch& batch) {
  if (!thread_.joinable()) Start();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ < kMostWaiting; });
    std::swap(batches_[(next_ + waiting_) % kMostWaiting], batch);
    ++waiting_;
  }
  changed_.notify_all();
}

void CountingThread::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_ == 0; });
}

void CountingThread::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closed_ || waiting_ != 0; });
    if (is_closed_) return;
    ChainBatch& batch = batches_[next_];
    lock.unlock();
    counter_.Take(batch);
    batch.Clear();
    lock.lock();
    next_ = (next_ + 1) % kMostWaiting;
    --waiting_;
    changed_.notify_all();
  }
}

}  // namespace profiler::profile

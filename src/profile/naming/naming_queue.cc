#include "src/profile/naming/naming_queue.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/profile/naming/embed_names.h"

namespace profiler::naming {
namespace {

// Each waiting file holds an open descriptor.
constexpr size_t kMostWaiting = 100;
constexpr std::chrono::milliseconds kProgressInterval{100};

}  // namespace

NamingQueue::~NamingQueue() {
  Finish([](std::string_view, size_t, size_t) { return false; });
}

void NamingQueue::Add(File file) {
  if (!thread_.joinable()) Start();
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      ++refused_;
      return;
    }
    waiting_.push_back(std::move(file));
    ++added_;
  }
  changed_.notify_all();
}

void NamingQueue::Start() {
  // A new thread inherits the signal mask.
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

void NamingQueue::Run() {
  LowerPriority();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const File file = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Name(file);
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

void NamingQueue::Name(const File& file) {
  // While the file waited, --switch-max-files may have removed it.
  const bool is_there = access(file.path.c_str(), F_OK) == 0;
  if (file.samples == 0 || cut_short_ || !is_there) return;
  const auto named = EmbedNames(*file.writer, file.path, embedding_, options_,
                                [this](std::string_view, size_t, size_t) { return !cut_short_; });
  if (named.ok()) return;
  const std::lock_guard lock(mutex_);
  warnings_.push_back(
      absl::StrCat("the recording ", file.path, " contains no names: ", named.status().message()));
}

size_t NamingQueue::unnamed() {
  const std::lock_guard lock(mutex_);
  return added_ - done_;
}

void NamingQueue::Finish(const NamingProgress& progress) {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    while (!changed_.wait_for(lock, kProgressInterval, [this] { return done_ == added_; })) {
      if (!progress("files", done_, added_)) cut_short_ = true;
    }
  }
  thread_.join();
  if (refused_ > 0) {
    warnings_.push_back(absl::StrCat(
        refused_,
        " files have no names, because they were written faster than names were found: "
        "`profiler archive` adds them"));
  }
}

void LowerPriority() {
  // nice 5 leaves a third of a normal CPU share. The lowest priority, 19, leaves one seventieth.
  // With so little CPU time on a busy machine, naming is too late for processes that end soon, for
  // example in containers.
  constexpr int kLower = 5;
  // An error is ignored, because naming also works at normal priority.
  setpriority(PRIO_PROCESS, 0, kLower);
}

}  // namespace profiler::naming

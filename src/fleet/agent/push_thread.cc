#include "src/fleet/agent/push_thread.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::agent {

PushThread::PushThread(fleet::SegmentDirectory directory, PushTarget target, SharedSpool& spool,
                       std::function<void(std::string_view)> say)
    : directory_(std::move(directory)),
      target_(std::move(target)),
      spool_(spool),
      say_(std::move(say)),
      loop_({.follow = true, .on_error = [this](const absl::Status& status) {
               const std::lock_guard lock(mutex_);
               if (is_left_alone_) return;
               say_(absl::StrCat(target_.name, ": ", std::string(status.message())));
             }}) {}

absl::StatusOr<std::unique_ptr<PushThread>> PushThread::Start(
    const std::string& directory, PushTarget target, SharedSpool& spool,
    std::function<void(std::string_view)> say, const fleet::SegmentDelivery::Options& options,
    fleet::SegmentDelivery::World world) {
  PROFILER_ASSIGN_OR_RETURN(fleet::SegmentDirectory opened,
                            fleet::SegmentDirectory::Open(directory));
  std::unique_ptr<PushThread> pushing(
      new PushThread(std::move(opened), std::move(target), spool, std::move(say)));
  PROFILER_ASSIGN_OR_RETURN(
      pushing->delivery_,
      fleet::SegmentDelivery::Open(pushing->directory_, pushing->target_.name,
                                   *pushing->target_.sender, *pushing, options, std::move(world)));
  pushing->thread_ = std::thread([thread = pushing.get()] {
    const absl::Status ended = thread->loop_.Run(*thread->delivery_);
    const std::lock_guard lock(thread->mutex_);
    if (!ended.ok() && !thread->is_left_alone_) thread->say_(std::string(ended.message()));
    thread->has_ended_ = true;
    thread->changed_.notify_all();
  });
  return pushing;
}

PushThread::~PushThread() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

void PushThread::End(std::unique_ptr<PushThread> pushing) {
  constexpr std::chrono::milliseconds kForAnswer(500);
  pushing->loop_.Stop();
  std::unique_lock lock(pushing->mutex_);
  const bool has_ended =
      pushing->changed_.wait_for(lock, kForAnswer, [&] { return pushing->has_ended_; });
  pushing->is_left_alone_ = !has_ended;
  lock.unlock();
  if (!has_ended) (void)pushing.release();
}

AgentMetrics::Pushed FiguresOf(const std::string& destination,
                               const fleet::SegmentDelivery::Counters& counters) {
  return {.destination = destination,
          .segments = counters.segments,
          .samples = counters.samples,
          .refused = counters.refused + counters.damaged,
          .gone = counters.gone,
          .failures = counters.failures,
          .last_success = static_cast<double>(counters.last_success) / 1e9};
}

AgentMetrics::Pushed PushThread::Describe() const {
  return FiguresOf(target_.name, delivery_->counters());
}

void PushThread::OnDelivered(const fleet::SegmentFile& file) {
  const std::lock_guard lock(mutex_);
  if (is_left_alone_) return;
  spool_.Delivered(file);
  if (std::exchange(is_failing_, false))
    say_(absl::StrCat(target_.name, ": accepts segments again"));
}

void PushThread::OnSkipped(const fleet::SegmentFile& file, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (is_left_alone_) return;
  const absl::Status aside = spool_.Refused(file);
  say_(absl::StrCat(target_.name, ": ", file.name, " is not sent: ", View(reason),
                    aside.ok() ? "" : "; it stays in the spool, because it cannot be set aside: ",
                    aside.ok() ? "" : std::string(aside.message())));
}

// Reports only the first of several failures in a row, because they may go on for weeks.
void PushThread::OnFailure(std::string_view reason, uint64_t /*failures*/,
                           fleet::SegmentDelivery::Duration /*wait*/) {
  const std::lock_guard lock(mutex_);
  if (is_left_alone_ || std::exchange(is_failing_, true)) return;
  say_(absl::StrCat(target_.name, ": ", View(reason), "; segments wait in the spool"));
}

void PushThread::OnRemark(std::string_view remark) {
  const std::lock_guard lock(mutex_);
  if (is_left_alone_ || remark == remark_) return;
  remark_ = remark;
  say_(absl::StrCat(target_.name, ": ", View(remark)));
}

}  // namespace profiler::agent

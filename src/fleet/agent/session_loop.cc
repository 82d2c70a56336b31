#include "src/fleet/agent/session_loop.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/machine/procfs/machine.h"

namespace profiler::agent {

using std::chrono::milliseconds;

absl::Status SessionLoop::Run(const std::function<absl::Status()>& run_session,
                              std::string_view name,
                              const std::function<void(std::string_view)>& say) {
  milliseconds wait = waits_.first;
  while (!is_stopped()) {
    const absl::Status status = run_session();
    if (status.ok()) {
      wait = waits_.first;
      continue;
    }
    if (!has_run_) return status;
    say(absl::StrCat(std::string(status.message()), "; ", View(name), " begins again in ",
                     wait.count() / 1000, " s"));
    if (!Wait(wait)) break;
    wait = std::min(2 * wait, waits_.longest);
  }
  return absl::OkStatus();
}

absl::Status SessionLoop::RunSession(record::RecordSession& session) {
  has_run_ = true;
  Publish(&session);
  absl::Status status = session.Run();
  Publish(nullptr);
  return status;
}

void SessionLoop::Publish(record::RecordSession* session) {
  const std::lock_guard lock(mutex_);
  session_ = session;
  if (session_ != nullptr && stopped_) session_->RequestStop();
}

void SessionLoop::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (session_ != nullptr) session_->RequestStop();
  changed_.notify_all();
}

void SessionLoop::RenewSession() {
  const std::lock_guard lock(mutex_);
  if (session_ != nullptr) session_->RequestStop();
}

bool SessionLoop::Wait(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopped_; });
}

bool SessionLoop::is_stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool IsOver(const procfs::Roots& roots, std::chrono::steady_clock::time_point began,
            milliseconds longest, const std::vector<int>& cpus) {
  if (std::chrono::steady_clock::now() - began >= longest) return true;
  const auto online = procfs::OnlineCpus(roots);
  return online.ok() && *online != cpus;
}

}  // namespace profiler::agent

#include "src/record/priority.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "src/base/raised_capabilities.h"
#include "src/base/status.h"

namespace profiler::record {
namespace {

bool SetScheduler(int policy, int priority) {
  const RaisedCapabilities raised(kCapSysNice);
  const sched_param param{.sched_priority = priority};
  return sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) == 0;
}

}  // namespace

absl::Status RaisedPriority::SetRealTime(int priority) {
  real_time_ = SetScheduler(SCHED_FIFO, priority);
  if (real_time_) return absl::OkStatus();
  if (errno != EPERM) return ErrnoStatus(errno, absl::StrCat("-r ", priority));
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  return absl::PermissionDeniedError(
      absl::StrCat("-r ", priority,
                   ": real-time priorities need CAP_SYS_NICE (root), or a limit (ulimit -r) of ",
                   priority, ", which is ", limit.rlim_cur));
}

void RaisedPriority::RaiseNice() {
  constexpr int kHighest = -20;
  if (real_time_ || !PriorityInWords().empty()) return;
  if (!SetScheduler(SCHED_OTHER, 0)) return;
  const RaisedCapabilities raised(kCapSysNice);
  nice_ = setpriority(PRIO_PROCESS, 0, kHighest) == 0;
}

RaisedPriority::~RaisedPriority() {
  if (real_time_) SetScheduler(SCHED_OTHER, 0);
  if (nice_) setpriority(PRIO_PROCESS, 0, 0);
}

std::string PriorityInWords() {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  sched_param param{};
  sched_getparam(0, &param);
  switch (policy) {
    case SCHED_FIFO:
      return absl::StrCat("SCHED_FIFO ", param.sched_priority);
    case SCHED_RR:
      return absl::StrCat("SCHED_RR ", param.sched_priority);
    case SCHED_BATCH:
      return "SCHED_BATCH";
    case SCHED_IDLE:
      return "SCHED_IDLE";
    default:
      break;
  }
  const int nice = getpriority(PRIO_PROCESS, 0);
  return nice == 0 ? "" : absl::StrCat("nice ", nice);
}

}  // namespace profiler::record

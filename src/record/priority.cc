#include "src/record/priority.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace profiler::record {
namespace {

bool SetScheduler(int policy, int priority) {
  const sched_param param{.sched_priority = priority};
  return sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) == 0;
}

// The highest priority weighs as much as 87 ordinary threads do (sched_prio_to_weight of
// kernel/sched/core.c).
bool IsCrowded() {
  constexpr unsigned kManyForACpu = 40;
  std::ifstream file("/proc/loadavg");
  std::string averages[3];
  unsigned runnable = 0;
  file >> averages[0] >> averages[1] >> averages[2] >> runnable;
  return file && runnable > kManyForACpu * std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace

RaisedPriority::RaisedPriority() {
  constexpr int kHighest = -20;
  if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 0) return;
  if (!SetScheduler(SCHED_OTHER, 0)) return;
  raised_ = setpriority(PRIO_PROCESS, 0, kHighest) == 0;
  if (raised_) real_time_ = SetScheduler(SCHED_RR, sched_get_priority_min(SCHED_RR));
}

void RaisedPriority::Settle() {
  if (!IsCrowded()) LeaveRealTime();
}

void RaisedPriority::LeaveRealTime() {
  if (real_time_) SetScheduler(SCHED_OTHER, 0);
  real_time_ = false;
}

RaisedPriority::~RaisedPriority() {
  LeaveRealTime();
  if (raised_) setpriority(PRIO_PROCESS, 0, 0);
}

}  // namespace profiler::record

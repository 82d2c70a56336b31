#include "src/record/priority.h"

#include <sched.h>
#include <sys/resource.h>

namespace profiler::record {

RaisedPriority::RaisedPriority() {
  constexpr int kHighest = -20;
  if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 0) return;
  // A child of a process that was made more important is an ordinary one: sched(7).
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) != 0) return;
  raised_ = setpriority(PRIO_PROCESS, 0, kHighest) == 0;
}

RaisedPriority::~RaisedPriority() {
  if (raised_) setpriority(PRIO_PROCESS, 0, 0);
}

}  // namespace profiler::record

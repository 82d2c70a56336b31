// Replaces libc's epoll_ctl and epoll_wait in a test binary, so that the fake kernel's events lose
// their readiness as perf events do.
//
// perf_poll clears the readiness that it reports. epoll calls it when a descriptor is added or
// modified, and again when it reports an event. The replacements call the real system call and then
// consume the fake kernel's readiness. A wake-up that arming swallowed is therefore never reported,
// as with real events.

#pragma once

#include "ringbuf/testing/fake_kernel.h"

namespace profiler::ringbuf {

// A scope in which epoll consumes readiness. At most one object at a time.
class ConsumingEpoll {
 public:
  explicit ConsumingEpoll(FakeKernel& kernel);
  ConsumingEpoll(const ConsumingEpoll&) = delete;
  ConsumingEpoll& operator=(const ConsumingEpoll&) = delete;
  ~ConsumingEpoll();
};

}  // namespace profiler::ringbuf

// epoll as it is over perf events: whenever it looks, readiness is gone.
//
// perf_poll takes the readiness that it reports, and epoll calls it when a descriptor is added or
// modified and again when an event is reported. This file's epoll_ctl and epoll_wait stand before
// libc's in a test binary: they do what those do and then consume the fake kernel's readiness. A
// wake-up that arming swallowed is never reported, as with real events.

#pragma once

#include "ringbuf/fake_kernel.h"

namespace profiler::ringbuf {

// While one lives, epoll consumes. One at a time.
class ConsumingEpoll {
 public:
  explicit ConsumingEpoll(FakeKernel& kernel);
  ConsumingEpoll(const ConsumingEpoll&) = delete;
  ConsumingEpoll& operator=(const ConsumingEpoll&) = delete;
  ~ConsumingEpoll();
};

}  // namespace profiler::ringbuf

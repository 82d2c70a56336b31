// Waits for rings and passes over them. Any wake-up (a ring's readiness, the tick) is one pass over
// all rings; readiness is a hint, data_head is the truth.
//
// perf's poll (perf_poll in kernel/events/core.c, Linux 6.18) has three traps:
//
//   (a) To ask for readiness is to consume it, and epoll asks whenever a descriptor is added, armed
//       or reported. So each wake-up re-arms first and drains second: what the re-arming swallowed
//       is drained at once, what comes after it wakes us. The tick finds what slips through still.
//   (b) A descriptor whose thread has exited is POLLHUP for ever. It is watched no longer, or the
//       loop would never sleep again.
//   (c) That the ring's owner hangs up does not end the ring: other threads' events write to it. It
//       is drained as before, and another event of it is watched instead.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "ringbuf/event_set.h"
#include "src/base/status.h"

namespace boost::asio {
class io_context;
}

namespace profiler::ringbuf {

// What one pass hands over: the unread bytes of one ring, taken from one read of its data_head.
struct RingPass {
  int cpu = 0;
  RingBytes bytes;
  size_t capacity = 0;  // of the ring, bytes
  // CLOCK_MONOTONIC in ns, read before the pass read any data_head: whatever the kernel had
  // published by then is in `bytes`, of every ring.
  uint64_t began = 0;
  // How many of the bytes are done with; all, unless on_pass takes fewer. The rest is handed over
  // again, in front of what has come since. Whole records only.
  size_t consume = 0;
};

struct DrainLoopOptions {
  // The longest that published bytes lie unread. An idle loop wakes up once a tick.
  std::chrono::milliseconds tick{100};
};

// One thread: the one that runs the io_context. May be destroyed at any time but within on_pass.
// Allocates nothing in a pass, once it has seen all rings.
class DrainLoop {
 public:
  // Gets the rings that have bytes, at least one, in the order of EventSet::rings. What it returns
  // OK for is consumed, as far as each RingPass says; on an error nothing is, and the loop ends.
  // Must not call PassNow. It may add threads to the set.
  using OnPass = std::function<absl::Status(std::span<RingPass>)>;

  // `io` and `events` must outlive the loop; threads may be added to `events` at any time, and
  // their rings are taken in with the next wake-up. Errors: those of epoll_create1(2) and of
  // registering with the io_context.
  static absl::StatusOr<std::unique_ptr<DrainLoop>> Create(boost::asio::io_context& io,
                                                           EventSet& events,
                                                           DrainLoopOptions options,
                                                           OnPass on_pass);
  virtual ~DrainLoop() = default;

  // Begins to wait; returns at once. The first pass comes with the first turn of the io_context,
  // for what was published before.
  virtual void Start() = 0;
  virtual absl::Status PassNow() = 0;  // one pass, now; what on_pass returned. status() once ended
  virtual void Stop() = 0;             // no further passes of itself; PassNow still works
  virtual const absl::Status& status() const = 0;  // what ended the loop, OK while nothing has
  virtual uint64_t passes() const = 0;             // those with bytes and those without
  virtual uint64_t wakeups() const = 0;            // by readiness or tick
};

}  // namespace profiler::ringbuf

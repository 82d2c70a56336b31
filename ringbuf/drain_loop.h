// Waits for rings to fill and hands their unread bytes to a callback. Every wake-up, by a ring's
// readiness or by the tick, makes one pass over all rings. Readiness is only a hint; data_head
// decides whether there are bytes.
//
// perf's poll (perf_poll in kernel/events/core.c, Linux 6.18) has three traps:
//
//   (a) Asking for readiness clears it. epoll asks whenever a descriptor is added, armed or
//       reported. Each wake-up therefore re-arms first and drains second: readiness that re-arming
//       cleared is drained at once, and later readiness wakes the loop. Readiness that a poll by
//       another process cleared is drained at the next tick.
//   (b) A descriptor whose thread has exited reports POLLHUP for ever. The loop stops watching it;
//       otherwise it would never sleep again.
//   (c) A ring outlives the hang-up of its owner, because other threads' events write to it. The
//       loop keeps draining it and watches another event of the ring instead.

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

// The unread bytes of one ring in one pass. One read of the ring's data_head decides where they
// end.
struct RingPass {
  int cpu = 0;
  RingBytes bytes;
  size_t capacity = 0;  // size of the ring in bytes
  // CLOCK_MONOTONIC in ns, read before the pass read any data_head. For every ring, `bytes`
  // contains all that the kernel had published by then.
  uint64_t began = 0;
  // Bytes to release to the kernel; on_pass may lower it. The other bytes are handed over again in
  // the next pass, before newer ones. Must end between two records.
  size_t consume = 0;
};

struct DrainLoopOptions {
  // The longest time that published bytes stay unread. An idle loop wakes up once per tick.
  std::chrono::milliseconds tick{100};
};

// A loop that belongs to the thread that runs the io_context. on_pass must not destroy the loop. A
// pass allocates nothing once the loop has seen all rings.
class DrainLoop {
 public:
  // Receives every ring that has bytes, in the order of EventSet::rings; there is at least one. If
  // the callback returns OK, each ring's `consume` bytes are released. If it returns an error,
  // nothing is released and the loop ends. The callback may add threads to the set, but must not
  // call PassNow.
  using OnPass = std::function<absl::Status(std::span<RingPass>)>;

  // `io` and `events` must outlive the loop. Threads may be added to `events` at any time; the next
  // wake-up begins to watch their rings. Errors: those of epoll_create1(2) and of registering with
  // the io_context.
  static absl::StatusOr<std::unique_ptr<DrainLoop>> Create(boost::asio::io_context& io,
                                                           EventSet& events,
                                                           DrainLoopOptions options,
                                                           OnPass on_pass);
  virtual ~DrainLoop() = default;

  // Begins to wait; returns at once. The first turn of the io_context makes the first pass, which
  // drains bytes that were published earlier.
  virtual void Start() = 0;
  // Makes one pass now and returns on_pass's status. Returns status() if the loop has ended.
  virtual absl::Status PassNow() = 0;
  virtual void Stop() = 0;                         // ends the waiting; PassNow still works
  virtual const absl::Status& status() const = 0;  // the error that ended the loop, or OK
  virtual uint64_t passes() const = 0;   // number of passes, including those that found no bytes
  virtual uint64_t wakeups() const = 0;  // number of wake-ups, by readiness or by the tick
};

}  // namespace profiler::ringbuf

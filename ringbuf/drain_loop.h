// Waits for rings and passes over them. Any wake-up (a ring's readiness, the tick, a call of Wake)
// is one pass over all rings; readiness is a hint, data_head is the truth.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "ringbuf/event_set.h"
#include "src/base/status.h"

namespace boost::asio {
class io_context;
}

namespace profiler::ringbuf {

// What one pass hands over: the unread bytes of each ring, taken from one read of its data_head.
struct RingPass {
  int cpu = 0;
  RingBytes bytes;
};

struct DrainLoopOptions {
  std::chrono::milliseconds tick{100};
};

class DrainLoop {
 public:
  // `on_pass` gets the rings that have bytes; what it returns OK for is consumed, an error ends the
  // loop.
  using OnPass = std::function<absl::Status(std::span<const RingPass>)>;

  static absl::StatusOr<std::unique_ptr<DrainLoop>> Create(boost::asio::io_context& io,
                                                           EventSet& events,
                                                           DrainLoopOptions options,
                                                           OnPass on_pass);
  virtual ~DrainLoop() = default;

  virtual void Start() = 0;            // begins to wait; returns at once
  virtual absl::Status PassNow() = 0;  // one pass, now
  virtual void Stop() = 0;             // no further passes of itself; PassNow still works
  virtual const absl::Status& status() const = 0;  // what ended the loop
  virtual uint64_t passes() const = 0;
  virtual uint64_t wakeups() const = 0;
};

}  // namespace profiler::ringbuf

// The interface of senders, each of which sends batches of windows in the format of one kind of
// server.

#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "src/fleet/segments/window.h"

namespace profiler::fleet {

// The outcome of a batch.
struct Delivery {
  enum class Outcome {
    kDelivered,
    // The server cannot take the batch now, or the answer was lost. Send the same batch again.
    kTryAgain,
    kRefused,  // the server will never take it
  };
  Outcome outcome = Outcome::kDelivered;
  // The reason, if not delivered. With kDelivered: the server's remark, if any.
  std::string reason;
  std::optional<std::chrono::seconds> wait;  // time until the next try, if the server sets one
};

// A sender, for one thread at a time.
class Sender {
 public:
  virtual ~Sender() = default;

  // Sends a batch and blocks until it is answered. Equal batches yield equal bytes, so that a
  // server can detect repetitions.
  virtual Delivery Send(std::span<const Window> batch) = 0;

  // Returns the number of rows that a batch should have for this server; a single window may have
  // more.
  virtual size_t RowsOfBatch() const = 0;
};

}  // namespace profiler::fleet

// What takes a batch of windows to a server, in the server's own format.

#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "src/fleet/window.h"

namespace profiler::fleet {

// What became of a batch.
struct Delivery {
  enum class Outcome {
    kDelivered,
    kTryAgain,  // the server cannot take it now, or nobody knows whether it has; the same again
                // does not count twice
    kRefused,   // the server will never take it
  };
  Outcome outcome = Outcome::kDelivered;
  // In words, of the other two. Of kDelivered: what the server has to say about it, if anything.
  std::string reason;
  std::optional<std::chrono::seconds> wait;  // that the server asked for
};

// One thread at a time.
class Sender {
 public:
  virtual ~Sender() = default;

  // The same batch is the same bytes, so that a server can tell that it had them before. Blocks
  // until there is an answer.
  virtual Delivery Send(std::span<const Window> batch) = 0;

  // How many rows a batch should have, for the server's sake; one window may have more.
  virtual size_t RowsOfBatch() const = 0;
};

}  // namespace profiler::fleet

// Sends the segments of the agent's spool to one server, on a thread of its own.
//
//   SharedSpool ◀── delivered, refused ── PushThread ── SegmentDelivery::Step ──▶ fleet::Sender
//        │                                     │
//        └── new segments ── directory ────────┘   polled every few seconds
//
// While a server cannot be reached, segments fill the disk, and then the oldest ones are dropped.
// The recording goes on.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "src/base/status.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/agent/shared_spool.h"
#include "src/fleet/push/push_loop.h"
#include "src/fleet/push/segment_delivery.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::agent {

// A destination, and the sender for that kind of server.
struct PushTarget {
  std::string name;  // fleet::Destination::Text, without secrets
  std::shared_ptr<fleet::Sender> sender;
};

// Converts the counters of a delivery to metrics of the agent or of `profiler push`.
AgentMetrics::Pushed FiguresOf(const std::string& destination,
                               const fleet::SegmentDelivery::Counters& counters);

// A thread that sends segments to one server. Describe is thread-safe; call the other functions
// from one thread.
class PushThread final : private fleet::SegmentDelivery::Listener {
 public:
  // Starts the thread. `spool` must outlive the thread. The new thread calls `say` with lines for
  // the user, and blocks the signals that the caller blocks. Errors: those of
  // SegmentDirectory::Open and SegmentDelivery::Open.
  static absl::StatusOr<std::unique_ptr<PushThread>> Start(
      const std::string& directory, PushTarget target, SharedSpool& spool,
      std::function<void(std::string_view)> say,
      const fleet::SegmentDelivery::Options& options = {.linger = std::chrono::seconds(60)},
      fleet::SegmentDelivery::World world = fleet::SegmentDelivery::RealWorld());
  // Waits for the answer to a request in flight. Segments that are not sent yet are sent after the
  // next start.
  ~PushThread() override;
  // Like the destructor, but waits for the answer at most half a second; call it when the process
  // ends. If the thread then still waits for the answer, it is abandoned together with its objects,
  // except the spool. It does not call `say` again.
  static void End(std::unique_ptr<PushThread> pushing);

  AgentMetrics::Pushed Describe() const;

 private:
  PushThread(fleet::SegmentDirectory directory, PushTarget target, SharedSpool& spool,
             std::function<void(std::string_view)> say);

  void OnDelivered(const fleet::SegmentFile& file) override;
  void OnSkipped(const fleet::SegmentFile& file, std::string_view reason) override;
  void OnFailure(std::string_view reason, uint64_t failures,
                 fleet::SegmentDelivery::Duration wait) override;
  void OnRemark(std::string_view remark) override;

  const fleet::SegmentDirectory directory_;
  const PushTarget target_;
  SharedSpool& spool_;
  const std::function<void(std::string_view)> say_;
  std::unique_ptr<fleet::SegmentDelivery> delivery_;
  fleet::PushLoop loop_;
  bool is_failing_ = false;
  std::string remark_;  // the previous remark
  std::mutex mutex_;    // held while the spool or say_ is used
  std::condition_variable changed_;
  bool has_ended_ = false, is_left_alone_ = false;  // mutex_ guards both
  std::thread thread_;
};

}  // namespace profiler::agent

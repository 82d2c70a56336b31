// Sends the segments of the agent's spool to one server, on a thread of its own.
//
//   SharedSpool ◀── delivered, refused ── PushThread ── SegmentDelivery::Step ──▶ fleet::Sender
//        │                                     │
//        └── new segments ── directory ────────┘   which it looks at every few seconds
//
// A server that cannot be reached costs the disk, and then the oldest segments, but never the
// recording.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "src/agent/agent_metrics.h"
#include "src/agent/shared_spool.h"
#include "src/base/status.h"
#include "src/fleet/push/push_loop.h"
#include "src/fleet/push/segment_delivery.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/segment_directory.h"

namespace profiler::agent {

// Where to, and what knows how.
struct PushTarget {
  std::string name;  // fleet::Destination::Text: without secrets
  std::shared_ptr<fleet::Sender> sender;
};

// The counters of a delivery as the agent's and push's metrics show them.
AgentMetrics::Pushed FiguresOf(const std::string& destination,
                               const fleet::SegmentDelivery::Counters& counters);

// Describe is thread-safe; the rest is for one thread.
class PushThread final : private fleet::SegmentDelivery::Listener {
 public:
  // `spool` must outlive it; `say` gets a line for the user, on the thread that pushes. The thread
  // has the signals blocked that are blocked here. Errors: those of SegmentDirectory::Open and
  // SegmentDelivery::Open.
  static absl::StatusOr<std::unique_ptr<PushThread>> Start(
      const std::string& directory, PushTarget target, SharedSpool& spool,
      std::function<void(std::string_view)> say,
      const fleet::SegmentDelivery::Options& options = {.linger = std::chrono::seconds(60)},
      fleet::SegmentDelivery::World world = fleet::SegmentDelivery::RealWorld());
  // Waits for the answer to the request at hand, if there is one. What is not sent yet is sent when
  // it begins again.
  ~PushThread() override;
  // For a process that ends now: waits half a second for that answer. A thread that still waits
  // then is left alone, with what it uses except the spool, and says nothing any more.
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
  std::string remark_;  // the last one
  std::mutex mutex_;    // held while the spool is used, or something is said
  std::condition_variable changed_;
  bool has_ended_ = false, is_left_alone_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace profiler::agent

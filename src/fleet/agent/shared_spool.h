// The spool of segments, shared by the thread that adds segments and the threads that send them.

#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "src/base/status.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::agent {

// The shared spool. Thread-safe.
class SharedSpool {
 public:
  // `destinations`: the number of servers that each segment is sent to.
  SharedSpool(fleet::SegmentSpool spool, size_t destinations)
      : spool_(std::move(spool)), destinations_(destinations) {}

  // Like SegmentSpool::Add. Waits for the disk, and blocks all other calls meanwhile.
  absl::Status Add(const fleet::Window& window);

  // Notes that one of the servers has the segment. Once all servers have it, its removal counts as
  // no loss.
  void Delivered(const fleet::SegmentFile& file);
  // Like SegmentSpool::SetAside if there is only one server. With several servers the segment
  // stays, because another server may take it, and counts as delivered to the refusing server.
  absl::Status Refused(const fleet::SegmentFile& file);

  // Sets the metrics of the spool.
  void Describe(AgentMetrics& metrics) const;

 private:
  mutable std::mutex mutex_;
  fleet::SegmentSpool spool_;  // under mutex_
  const size_t destinations_;
  // a segment's name → number of servers that have it; under mutex_
  std::map<std::string, size_t> delivered_;
};

}  // namespace profiler::agent

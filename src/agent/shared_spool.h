// The spool, which one thread adds to and others send from.

#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "src/agent/agent_metrics.h"
#include "src/base/status.h"
#include "src/fleet/segment_directory.h"

namespace profiler::agent {

// Thread-safe.
class SharedSpool {
 public:
  // `destinations`: how many servers each segment is sent to.
  SharedSpool(fleet::SegmentSpool spool, size_t destinations)
      : spool_(std::move(spool)), destinations_(destinations) {}

  // As SegmentSpool::Add. Waits for the disk, and lets nobody else in meanwhile.
  absl::Status Add(const fleet::Window& window);

  // One of the servers has it. Once all have, it is no loss when it goes.
  void Delivered(const fleet::SegmentFile& file);
  // As SegmentSpool::SetAside, where it is sent to one server; where there are several it stays, as
  // others may take it.
  absl::Status Refused(const fleet::SegmentFile& file);

  // Its figures.
  void Describe(AgentMetrics& metrics) const;

 private:
  mutable std::mutex mutex_;
  fleet::SegmentSpool spool_;  // under mutex_
  const size_t destinations_;
  std::map<std::string, size_t> delivered_;  // to how many, by name; under mutex_
};

}  // namespace profiler::agent

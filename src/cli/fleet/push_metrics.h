// Serves two sets of metrics over HTTP: those of the agent, and those of the process that pushes
// the agent's segments. So the agent, which runs with privileges, needs no network.
//
//   agent ──▶ SPOOL/metrics.prom ──▶ PushMetrics ──▶ GET /metrics
//                     push: SegmentDelivery::Counters ──┘

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/agent/metrics_server.h"

namespace profiler::cli {

// A server that answers requests on its own thread until it is destroyed. The thread blocks all
// signals.
class PushMetrics {
 public:
  // Starts the server. For each answer, the server's thread calls `pushed` to get the metrics of
  // the push. Errors: those of MetricsServer::Listen.
  static absl::StatusOr<std::unique_ptr<PushMetrics>> Start(
      const agent::ListenAddress& address, std::string spool,
      std::function<std::vector<agent::AgentMetrics::Pushed>()> pushed);
  ~PushMetrics();

  uint16_t port() const;

 private:
  class Impl;
  explicit PushMetrics(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the metrics that the agent has written to its spool, or "". Reads at most 1 MB.
// Thread-safe.
std::string MetricsOfAgent(const std::string& spool);

}  // namespace profiler::cli

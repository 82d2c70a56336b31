// The agent's own metrics, in Prometheus' text format 0.0.4:
//
//   # HELP profiler_agent_samples_total Recorded samples.
//   # TYPE profiler_agent_samples_total counter
//   profiler_agent_samples_total 4711
//
// Source: prometheus.io/docs/instrumenting/exposition_formats.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::agent {

// The metrics. Counters start at 0 when the agent starts.
struct AgentMetrics {
  uint64_t samples = 0;
  uint64_t lost = 0;  // dropped by the kernel: LOST and LOST_SAMPLES records
  uint64_t chains = 0, cut_chains = 0;
  uint64_t windows = 0;  // windows that became segments
  // Windows that were dropped because naming was too slow, or that could not be read or stored.
  uint64_t lost_windows = 0;
  uint64_t sessions = 0, failed_sessions = 0;
  double gap_seconds = 0;  // time without recording, between sessions
  double naming_seconds = 0;

  uint64_t segments = 0, spool_bytes = 0;  // in the spool now
  uint64_t dropped_segments = 0, dropped_samples = 0;

  double cpu_seconds = 0;
  double cpu_share = 0;                                 // share of all CPUs in the last window
  double cpu_budget = 0;                                // limit of cpu_share
  uint64_t memory = 0, memory_limit = 0, resident = 0;  // bytes; see OwnCost
  uint64_t name_stores = 0;  // how often all names were discarded to free memory
  uint64_t frequency = 0;    // Hz
  uint32_t cpus = 0;
  double last_window = 0;  // end of the last window, in seconds since 1970
  double written = 0;      // time of these metrics, in seconds since 1970

  // Metrics of one destination, which is named by its URL without secrets.
  struct Pushed {
    std::string destination;
    uint64_t segments = 0, samples = 0, refused = 0, gone = 0, failures = 0;
    double last_success = 0;  // seconds since 1970; 0: never
  };
  std::vector<Pushed> pushed;
};

// Returns the text, which ends with a line feed. `version` is the program's. Thread-safe.
std::string PrometheusText(const AgentMetrics& metrics, std::string_view version);
// Returns the part of the text about destinations; empty if there are none. Thread-safe.
std::string PushedText(const std::vector<AgentMetrics::Pushed>& pushed);

// Metrics that several threads change and one reads. Thread-safe.
class SharedMetrics {
 public:
  template <class Change>
  void Update(Change change) {
    const std::lock_guard lock(mutex_);
    change(metrics_);
  }
  AgentMetrics Get() const {
    const std::lock_guard lock(mutex_);
    return metrics_;
  }

 private:
  mutable std::mutex mutex_;
  AgentMetrics metrics_;
};

}  // namespace profiler::agent

// The agent's own figures, as Prometheus' text format 0.0.4 has them:
//
//   # HELP profiler_agent_samples_total Samples that were taken.
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

// Sums are since the agent began.
struct AgentMetrics {
  uint64_t samples = 0;
  uint64_t lost = 0;  // that the kernel had no room for, or was told to take fewer
  uint64_t chains = 0, cut_chains = 0;
  uint64_t windows = 0;       // that became segments
  uint64_t lost_windows = 0;  // that came faster than they were named, or could not be read or kept
  uint64_t sessions = 0, failed_sessions = 0;
  double gap_seconds = 0;  // between sessions, while nothing was recorded
  double naming_seconds = 0;

  uint64_t segments = 0, spool_bytes = 0;  // that are there now
  uint64_t dropped_segments = 0, dropped_samples = 0;

  double cpu_seconds = 0;
  double cpu_share = 0;                                 // of all CPUs together, in the last window
  double cpu_budget = 0;                                // likewise, what it may be
  uint64_t memory = 0, memory_limit = 0, resident = 0;  // bytes; OwnCost says which
  uint64_t name_stores = 0;  // how often names were looked up anew, to give memory back
  uint64_t frequency = 0;    // Hz
  uint32_t cpus = 0;
  double last_window = 0;  // when the last one ended, in seconds since 1970
  double written = 0;      // when these figures were, likewise

  // Of each destination, by its URL without what is secret.
  struct Pushed {
    std::string destination;
    uint64_t segments = 0, samples = 0, refused = 0, gone = 0, failures = 0;
    double last_success = 0;  // seconds since 1970; 0: never
  };
  std::vector<Pushed> pushed;
};

// The text, with a line feed at its end. `version`: of this program. Thread-safe.
std::string PrometheusText(const AgentMetrics& metrics, std::string_view version);
// The part of the text about destinations; empty without one. Thread-safe.
std::string PushedText(const std::vector<AgentMetrics::Pushed>& pushed);

// Figures that several threads change and one reads. Thread-safe.
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

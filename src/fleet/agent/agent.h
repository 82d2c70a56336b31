// The agent: records the whole machine all the time, and keeps the results as segments.
//
//   thread            does
//   main              signals, watchdog, metrics; waits for the other threads
//   recorder          RecordingLoop: windows in memory                    highest ordinary priority
//   naming            WindowNamer, then writes to the spool               nice 5
//   one per server    PushThread
//   moments           MomentLoop, with a flight recorder
//
// A segment is in the spool whole or not at all. If the agent is killed, three kinds of windows are
// lost: the current window, the window that is being named, and at most two windows that wait for
// names.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/fleet/agent/metrics_server.h"
#include "src/fleet/agent/push_thread.h"
#include "src/fleet/agent/rate_control.h"
#include "src/profile/naming/naming.h"
#include "src/record/options.h"

namespace profiler::agent {

struct AgentOptions {
  record::RecordOptions recording;  // events and targets; the agent sets the other members
  std::chrono::milliseconds window{10'000};
  std::chrono::milliseconds session{3'600'000};  // longest session
  RateBounds rates;
  double budget = 0.01;                         // share of all CPUs together
  uint64_t memory_limit = uint64_t{128} << 20;  // bytes, for this process and its children

  // The flight recorder beside the segments: its events, rate and `flight`; the agent sets the other
  // members. Its files are in the directory `moments` of the spool, and its memory comes on top of
  // memory_limit. The budget does not bound its CPU time. None: no flight recorder.
  std::optional<record::RecordOptions> moments;
  size_t most_moments = 10;  // files to keep, the latest ones

  std::string spool;
  uint64_t spool_bytes = uint64_t{1} << 30;

  std::string host;                 // never empty
  std::vector<std::string> labels;  // "KEY=VALUE"
  std::string labels_file;          // may be empty; read again at SIGHUP
  std::string version;              // version of this program

  naming::NamingOptions naming;
  std::optional<ListenAddress> metrics;  // none: serves no metrics
  std::vector<PushTarget> push;          // servers that receive the segments

  // Prints a line for the user. Called on any thread, one call at a time.
  std::function<void(std::string_view)> say;
};

// Returns the ring size per CPU, a power of two. All rings together take a quarter of the memory
// limit.
size_t RingBytesFor(uint64_t memory_limit, size_t cpus);

// Records until SIGTERM or SIGINT, and then writes the current window. A second such signal ends
// the process at once. SIGHUP reads the labels' file again. Call it once, while the process has
// only one thread. `on_metrics_port` may be empty; otherwise it is called once with the port of the
// metrics.
//
// Errors, each a line for the user with a remedy: those of SegmentSpool::Open, of AddLabel and
// AddLabelsOf, and of MetricsServer::Listen; those of MomentLoop::Run; those of
// RecordSession::Create, if the first session cannot begin.
absl::Status RunAgent(ringbuf::Kernel& kernel, AgentOptions options,
                      const std::function<void(uint16_t)>& on_metrics_port = {});

}  // namespace profiler::agent

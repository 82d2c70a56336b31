// The agent: records all the time, and keeps what it saw as segments.
//
//   thread            does
//   main              signals, watchdog, metrics; waits for the others' end
//   recorder          RecordingLoop: windows in memory                    highest ordinary priority
//   naming            WindowNamer, then into the spool                    nice 5
//   one a server      PushThread
//
// A segment is in the spool whole or not at all. Whoever kills the agent loses the window at hand,
// and those that were not named yet: two at most.

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
#include "src/agent/metrics_server.h"
#include "src/agent/push_thread.h"
#include "src/agent/rate_control.h"
#include "src/base/status.h"
#include "src/naming/naming.h"
#include "src/record/options.h"

namespace profiler::agent {

struct AgentOptions {
  record::RecordOptions recording;  // events and targets; the rest is set here
  std::chrono::milliseconds window{10'000};
  std::chrono::milliseconds session{3'600'000};  // the longest
  RateBounds rates;
  double budget = 0.01;                         // of all CPUs together
  uint64_t memory_limit = uint64_t{128} << 20;  // of this process and those that it starts

  std::string spool;
  uint64_t spool_bytes = uint64_t{1} << 30;

  std::string host;                 // never empty
  std::vector<std::string> labels;  // "KEY=VALUE"
  std::string labels_file;          // empty: none; read again at SIGHUP
  std::string version;              // of this program

  naming::NamingOptions naming;
  std::optional<ListenAddress> metrics;  // none: nobody may ask
  std::vector<PushTarget> push;          // servers that segments are sent to

  // Lines for the user, on any thread, one at a time.
  std::function<void(std::string_view)> say;
};

// How large a CPU's ring may be, so that all of them are a quarter of the memory: a power of two.
size_t RingBytesFor(uint64_t memory_limit, size_t cpus);

// Runs until SIGTERM or SIGINT; then the window at hand is written. A second of these ends the
// process at once. SIGHUP reads the labels' file again. To be called once, by the only thread.
// Errors, each a line for the user with its remedy: those of SegmentSpool::Open, of labels and of
// MetricsServer; where nothing could be recorded from the start, those of RecordSession::Create.
// `on_metrics_port` is told where metrics are, once; it may be empty.
absl::Status RunAgent(ringbuf::Kernel& kernel, AgentOptions options,
                      const std::function<void(uint16_t)>& on_metrics_port = {});

}  // namespace profiler::agent

// The samples of a page: call paths by name, and the number of samples that ended in each.
//
//   paths    the call tree of all events, threads and recordings, each node once, depth first:
//
//              number  depth  label                  the subtree of a node consists of the
//                 0      0    (root)                 nodes after it, up to the next node that
//                 1      1    server   a process     is not deeper than itself
//                 2      2    main     a function
//                 3      3    parse
//                 4      2    idle
//
//   rows     (event, thread, time slice, path) → samples, sum of their periods
//
// There are no addresses: calls of a function from several places in its caller are one node. The
// first level consists of process names, as in a flame graph.
//
// Functions without side effects; thread-safe.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::page {

// One recording. Its events and threads are numbered after those of earlier sides.
// The moment for which a flight recorder wrote a recording.
struct Moment {
  uint64_t time = 0;   // in ns of the samples' clock
  std::string reason;  // what happened: "SIGUSR2"
};

struct Side {
  const profile::Profile* profile = nullptr;
  std::string name;  // the recording's name on the page
  std::optional<Moment> moment;
};

struct PathNode {
  uint32_t depth = 0;
  exports::LabelId label = exports::kNoLabel;  // kNoLabel only for the root
};

struct PathRow {
  uint32_t event = 0;
  uint32_t thread = 0;
  uint32_t slice = 0;
  uint32_t path = 0;
  uint64_t count = 0;
  uint64_t period = 0;
};

struct PathThread {
  uint32_t pid = 0, tid = 0;  // 0 if several threads are merged
  std::string comm;
  uint32_t side = 0;
  uint32_t threads = 1;  // number of threads that are merged here
};

struct PathEvent {
  std::string name;
  uint32_t side = 0;
  uint64_t samples = 0, period = 0;  // sums of the rows
  bool is_time = false;              // True if periods are nanoseconds.
  bool is_off_cpu = false;
  // True if the numbers are exact: no samples were lost, and each sample stands for one occurrence
  // or for one whole time off the CPU.
  bool is_count = false;
};

struct CallPaths {
  exports::LabelTable labels;
  std::vector<PathEvent> events;
  std::vector<PathThread> threads;
  std::vector<PathNode> nodes;  // nodes in depth-first order; the root is the first
  std::vector<PathRow> rows;    // sorted by event, thread, path and slice
  // Sum of each event's periods in code without a symbol.
  std::vector<uint64_t> unnamed;
};

// Builds the call paths. Takes time linear in rows and stacks, except for sorting them. Each
// profile must keep Dimension::kSlice or have only one slice. Off-CPU time gets a frame for its
// state (analysis/wall_clock.h).
CallPaths FindCallPaths(std::span<const Side> sides);

}  // namespace profiler::page

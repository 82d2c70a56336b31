// What the page shows of profiles: call paths by name, and how often samples ended in each.
//
//   paths    the call tree of all events, threads and recordings, each node once, depth first:
//
//              number  depth  label                  the subtree of a node is what follows it
//                 0      0    (root)                 until one is as high as itself
//                 1      1    server   a process
//                 2      2    main     a function
//                 3      3    parse
//                 4      2    idle
//
//   rows     (event, thread, slice of time, path) → samples, sum of their periods
//
// Addresses are gone: calls of a function at several places are one node. A process name is the
// first level, as in a flame graph.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/export/labels.h"
#include "src/profile/profile.h"

namespace profiler::page {

// One recording. Its events and threads have numbers of their own behind those of the sides before.
struct Side {
  const profile::Profile* profile = nullptr;
  std::string name;  // of the recording, as the page calls it
};

struct PathNode {
  uint32_t depth = 0;
  exports::LabelId label = exports::kNoLabel;  // of the root alone: kNoLabel
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
  uint32_t pid = 0, tid = 0;  // 0 where `threads` are one
  std::string comm;
  uint32_t side = 0;
  uint32_t threads = 1;  // how many of that name are one here
};

struct PathEvent {
  std::string name;
  uint32_t side = 0;
  uint64_t samples = 0, period = 0;  // of the rows
  bool is_time = false;              // periods are nanoseconds
  bool is_off_cpu = false;
  // Each sample is of one occurrence, or of the whole time off the CPU: no chance is in the
  // figures, unless samples were lost.
  bool is_count = false;
};

struct CallPaths {
  exports::LabelTable labels;
  std::vector<PathEvent> events;
  std::vector<PathThread> threads;
  std::vector<PathNode> nodes;  // the root is the first
  std::vector<PathRow> rows;    // by event, thread, path and slice
  // Of rows: what is in code without a name, by event, in periods.
  std::vector<uint64_t> unnamed;
};

// Linear in rows and stacks, but for sorting them. All profiles have Dimension::kSlice or one slice
// alone; times off the CPU get a frame of their state (query/wall_clock.h).
CallPaths FindCallPaths(std::span<const Side> sides);

}  // namespace profiler::page

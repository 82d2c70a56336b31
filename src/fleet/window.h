// What one machine did in a stretch of time, by name: the unit that is kept, sent and asked for
// where many machines are recorded all the time.
//
//   rows       (event, workload, stack) → samples, value
//                         │        │
//   workloads  service, container, │ program, build-id: who ran
//                                  │
//   stacks                         node {caller, frame}   leaf up to root; kNoCaller is the root's
//                                                 │
//   frames                                        {function, image, type, build-id}
//                                                                    names, and no addresses
//
// Addresses mean something on one machine, in one process. Names are the same on all machines, so a
// stack has a hash of its names (StackHashes) by which equal stacks of any two machines are one.
//
// The answer to a question about many windows is a Window again: its rows are sums.
//
// Type and build-id are for receivers that ask for them. The answer to a question has neither.
//
// Reading is thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/base/string_table.h"

namespace profiler::fleet {

// Nanoseconds since 1970.
using UnixTime = int64_t;

inline constexpr uint32_t kNoCaller = UINT32_MAX;
// No stack is deeper.
inline constexpr uint32_t kMostDepth = 1024;

struct Event {
  StringId name{};
  bool operator==(const Event&) const = default;
};

// Who ran. Empty where it is not known, or there is none.
struct Workload {
  StringId
      service{};  // what an operator calls it: a unit of systemd, a container's name, a program
  StringId container{};  // the id that its runtime gave it, as hexadecimal digits
  StringId pod{};        // Kubernetes' uid of the pod
  StringId program{};    // the process's name
  StringId build_id{};   // of the process's executable, as hexadecimal digits
  bool operator==(const Workload&) const = default;
};

// One function on a stack.
struct Frame {
  StringId function{};
  StringId image{};  // short name of its file; empty: inlined into the frame that calls it
  StringId type{};   // its language (src/query/frame_types.h); empty: unknown
  // "gnu:" or "htlhash:" and the image's identifier, in hexadecimal digits; empty: unknown.
  StringId build_id{};
  bool operator==(const Frame&) const = default;
};

struct StackNode {
  uint32_t caller = kNoCaller;  // its number is lower than this one's
  uint32_t frame = 0;
  bool operator==(const StackNode&) const = default;
};

struct Row {
  uint32_t event = 0;
  uint32_t workload = 0;
  uint32_t stack = 0;  // the leaf
  uint64_t samples = 0;
  uint64_t value = 0;  // the sum of their periods: of clocks nanoseconds, else events
  bool operator==(const Row&) const = default;
};

// What is missing in a window, or not as it could be.
struct WindowLosses {
  uint64_t lost_samples = 0;  // the kernel had no room for them, or was told to take fewer
  uint64_t chains = 0;        // call chains that were unwound
  uint64_t cut_chains = 0;    // of them: those that do not reach the thread's start
  bool operator==(const WindowLosses&) const = default;
};

struct Window {
  std::string host;  // empty: of several
  // Of the machine, as its owner gave them: "region" → "eu". Sorted, each key once.
  std::vector<std::pair<std::string, std::string>> labels;
  UnixTime begin = 0;
  uint64_t length = 0;  // nanoseconds
  // How often a CPU was sampled, a second; 0 where windows of several rates are together. Values
  // need no correction by it, samples do.
  double frequency = 0;
  uint32_t cpus = 0;    // of the machine; 0: of several
  std::string version;  // of the program that recorded it

  StringTable strings;
  std::vector<Event> events;
  std::vector<Workload> workloads;
  std::vector<Frame> frames;
  std::vector<StackNode> stacks;
  std::vector<Row> rows;
  WindowLosses losses;
};

// The names of a stack as a number, by stack: equal for equal names, on every machine and in every
// version of this program. Of 10 million distinct stacks two have one number with a chance of 3 in
// a million.
//
//   hash(stack) = XXH3_64(function, 0, image, 0; seed: hash(caller))    0 is the seed of a root
//
// Linear in the stacks. Thread-safe.
std::vector<uint64_t> StackHashes(const Window& window);

// The samples of all rows.
uint64_t SamplesOf(const Window& window);

// Whether an image of that name is code of the kernel: "[kernel.kallsyms]", "[ext4]", "bpf_prog_…".
bool IsKernelImage(std::string_view image);

}  // namespace profiler::fleet

// A window: the samples of one machine in an interval, by name. Windows are the unit that a fleet's
// machines store and send, and that queries read.
//
//   rows       (event, workload, stack) → samples, value
//                         │        │
//   workloads  service, container, │ program, build-id
//                                  │
//   stacks                         node {caller, frame}   from leaf to root, which has kNoCaller
//                                                 │
//   frames                                        {function, image, type, build-id}
//                                                                    names, and no addresses
//
// An address has a meaning only in one process of one machine. Names are the same on all machines.
// So each stack has a hash of its names (StackHashes); equal stacks of different machines are
// merged by this hash.
//
// The answer to a query over many windows is also a Window; its rows are sums.
//
// Some servers use the types and build-ids of frames. Answers to queries contain neither.
//
// Windows may be read from several threads at once.

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
// Limit of a stack's depth, in frames.
inline constexpr uint32_t kMostDepth = 1024;

struct Event {
  StringId name{};
  bool operator==(const Event&) const = default;
};

// A process, and the service that it belongs to. A name is empty if it is unknown or absent.
struct Workload {
  StringId service{};    // the name that operators use: a systemd unit or a program
  StringId container{};  // the id from the container's runtime: hexadecimal digits, or a name
  StringId pod{};        // Kubernetes' uid of the pod
  StringId program{};    // the process's name
  StringId build_id{};   // of the process's executable, in hexadecimal digits
  bool operator==(const Workload&) const = default;
};

// One function on a stack.
struct Frame {
  StringId function{};
  StringId image{};  // short name of the file; empty: inlined into its caller
  StringId type{};   // its language (src/analysis/frame_types.h); empty: unknown
  // "gnu:" or "htlhash:" and the image's identifier, in hexadecimal digits; empty: unknown.
  StringId build_id{};
  bool operator==(const Frame&) const = default;
};

struct StackNode {
  uint32_t caller = kNoCaller;  // lower than this node's number; kNoCaller for a root
  uint32_t frame = 0;
  bool operator==(const StackNode&) const = default;
};

struct Row {
  uint32_t event = 0;
  uint32_t workload = 0;
  uint32_t stack = 0;  // index of the leaf's node in Window::stacks
  uint64_t samples = 0;
  uint64_t value = 0;  // sum of the periods: nanoseconds for clocks, otherwise events
  bool operator==(const Row&) const = default;
};

// Samples and call chains that are missing or incomplete in a window.
struct WindowLosses {
  uint64_t lost_samples = 0;  // dropped by the kernel: LOST and LOST_SAMPLES records
  uint64_t chains = 0;        // call chains that were unwound
  uint64_t cut_chains = 0;    // chains that do not reach the start of their thread
  bool operator==(const WindowLosses&) const = default;
};

struct Window {
  std::string host;  // empty: several machines
  // Labels that the machine's owner gave it: "region" → "eu". Sorted by key, each key once.
  std::vector<std::pair<std::string, std::string>> labels;
  UnixTime begin = 0;
  uint64_t length = 0;  // nanoseconds
  // Sampling frequency per CPU, in Hz; 0 if windows of several rates were added up. Numbers of
  // samples depend on the rate; values do not.
  double frequency = 0;
  uint32_t cpus = 0;    // number of CPUs of the machine; 0: several machines
  std::string version;  // version of the program that recorded the window

  StringTable strings;
  std::vector<Event> events;
  std::vector<Workload> workloads;
  std::vector<Frame> frames;
  std::vector<StackNode> stacks;
  std::vector<Row> rows;
  WindowLosses losses;
};

// Returns a hash of the names of each stack. Equal names have equal hashes on every machine and in
// every version of this program. The probability that two of 10 million distinct stacks have
// the same hash is 3 in a million.
//
//   hash(stack) = XXH3_64(function, 0, image, 0; seed: hash(caller))    0 is the seed of a root
//
// Takes time linear in the stacks. Thread-safe.
std::vector<uint64_t> StackHashes(const Window& window);

// Returns the sum of all rows' samples.
uint64_t SamplesOf(const Window& window);

// True for the name of a kernel image: "[kernel.kallsyms]", "[ext4]", "bpf_prog_…".
bool IsKernelImage(std::string_view image);

}  // namespace profiler::fleet

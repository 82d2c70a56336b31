// Puts a window together: everything that is named twice is in it once.
//
//   WindowBuilder builder;
//   const uint32_t workload = builder.Workload({.service = "web", .program = "nginx"});
//   uint32_t stack = builder.Stack(kNoCaller, "main", "nginx");
//   stack = builder.Stack(stack, "epoll_wait", "libc.so.6");
//   builder.Add({.event = builder.Event("cpu-clock"), .workload = workload, .stack = stack,
//                .samples = 1, .value = 20'408'163});
//   Window window = std::move(builder).Finish();

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

// A Workload by its texts.
struct WorkloadNames {
  std::string_view service = {}, container = {}, pod = {}, program = {}, build_id = {};
};

// A Frame by its texts.
struct FrameNames {
  std::string_view function, image = {}, type = {}, build_id = {};
};

// Not thread-safe. Memory by what is distinct.
class WindowBuilder {
 public:
  // What is known of the window as a whole, for the caller to fill in: all but its tables.
  Window& window() { return window_; }
  const Window& window() const { return window_; }

  // Makes what is known of the window as a whole that of the first `facts`, whose tables do not
  // matter, and with each further one that of all together: of what only some have nothing stays
  // known, times become those from the first to the last, and losses are added up.
  void AddFacts(const Window& facts);
  bool has_facts() const { return has_facts_; }

  uint32_t Event(std::string_view name);
  uint32_t Workload(const WorkloadNames& names);
  uint32_t Frame(const FrameNames& names);
  // The stack of `caller` with a callee more. At kMostDepth the callee is left out, and the caller
  // is given back: a stack that is too deep is cut at its innermost end.
  uint32_t Stack(uint32_t caller, uint32_t frame);
  uint32_t Stack(uint32_t caller, std::string_view function, std::string_view image) {
    return Stack(caller, Frame({.function = function, .image = image}));
  }

  // Rows that agree in event, workload and stack are one.
  void Add(const Row& row);

  // The rows of another window that `is_wanted` is true of, with their names, which have other
  // numbers here. Frames lose their types and build-ids, so stacks of equal names are one. Linear
  // in the other window's tables.
  void AddRows(const Window& other, absl::FunctionRef<bool(const Row&)> is_wanted);

  // Once, last.
  Window Finish() && { return std::move(window_); }

 private:
  using Pair = std::pair<uint32_t, uint32_t>;
  struct RowKey {
    uint32_t event, workload, stack;
    bool operator==(const RowKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const RowKey& key) {
      return H::combine(std::move(h), key.event, key.workload, key.stack);
    }
  };
  struct WorkloadKey {
    StringId service, container, pod, program, build_id;
    bool operator==(const WorkloadKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const WorkloadKey& key) {
      return H::combine(std::move(h), key.service, key.container, key.pod, key.program,
                        key.build_id);
    }
  };

  struct FrameKey {
    StringId function, image, type, build_id;
    bool operator==(const FrameKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const FrameKey& key) {
      return H::combine(std::move(h), key.function, key.image, key.type, key.build_id);
    }
  };

  Window window_;
  bool has_facts_ = false;
  absl::flat_hash_map<StringId, uint32_t> events_;
  absl::flat_hash_map<WorkloadKey, uint32_t> workloads_;
  absl::flat_hash_map<FrameKey, uint32_t> frames_;
  absl::flat_hash_map<Pair, uint32_t> stacks_;  // by caller and frame
  absl::flat_hash_map<RowKey, uint32_t> rows_;
  std::vector<uint32_t> depths_;  // by stack
};

}  // namespace profiler::fleet

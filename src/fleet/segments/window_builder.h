// Builds a window, in which each name, stack and row is stored once:
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
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

// The texts of a Workload.
struct WorkloadNames {
  std::string_view service = {}, container = {}, pod = {}, program = {}, build_id = {};
};

// The texts of a Frame.
struct FrameNames {
  std::string_view function, image = {}, type = {}, build_id = {};
};

// A builder of one window. Not thread-safe. Memory grows with the distinct names, stacks and rows.
class WindowBuilder {
 public:
  // Returns the window, so that the caller can set its facts: all members except the tables.
  Window& window() { return window_; }
  const Window& window() const { return window_; }

  // Adds the facts of a window; ignores its tables. The first call copies the facts. Each further
  // call merges them: the interval covers all windows, losses are added up, only common labels
  // stay, and any other fact that differs becomes unknown.
  void AddFacts(const Window& facts);
  bool has_facts() const { return has_facts_; }

  uint32_t Event(std::string_view name);
  uint32_t Workload(const WorkloadNames& names);
  uint32_t Frame(const FrameNames& names);
  // Returns the stack of `caller` plus one callee. At kMostDepth, returns `caller` instead, so a
  // stack that is too deep loses its innermost frames.
  uint32_t Stack(uint32_t caller, uint32_t frame);
  uint32_t Stack(uint32_t caller, std::string_view function, std::string_view image) {
    return Stack(caller, Frame({.function = function, .image = image}));
  }

  // Adds a row; rows with the same event, workload and stack are added up.
  void Add(const Row& row);

  // Adds the rows of another window that satisfy `is_wanted`, and the names that these rows use.
  // Frames lose their types and build-ids, so that stacks of equal names are merged. Takes time
  // linear in the other window's tables.
  void AddRows(const Window& other, absl::FunctionRef<bool(const Row&)> is_wanted);

  // Returns the window. Call it once, last.
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
  absl::flat_hash_map<Pair, uint32_t> stacks_;  // keyed by caller and frame
  absl::flat_hash_map<RowKey, uint32_t> rows_;
  std::vector<uint32_t> depths_;  // [s]: depth of stack s, in frames
};

}  // namespace profiler::fleet

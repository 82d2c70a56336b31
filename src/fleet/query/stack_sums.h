// Adds up windows to one window for all, or to one window per host, per time, or per host and time.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/fleet/query/source.h"
#include "src/fleet/segments/window_builder.h"

namespace profiler::fleet {

// The sums of windows. Not thread-safe. Memory grows with the distinct names, stacks and rows.
class StackSums {
 public:
  // Ignores the question's `selection`.
  explicit StackSums(const StacksQuestion& question)
      : hosts_(question.tells_hosts_apart), times_(question.tells_times_apart) {}

  // Adds the rows that satisfy `is_wanted`. A window without such rows adds nothing. Takes time
  // linear in the window's tables.
  void Add(const Window& window, absl::FunctionRef<bool(const Row&)> is_wanted);
  void Merge(StackSums other);

  // Returns the windows, sorted by host and begin. Call it once, last.
  std::vector<Window> Finish() &&;

 private:
  using Key = std::pair<std::string, UnixTime>;

  bool hosts_, times_;
  std::map<Key, WindowBuilder> sums_;
};

}  // namespace profiler::fleet

// Adds windows up to windows: one for all, or one for each machine, each time, or both.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/fleet/query/source.h"
#include "src/fleet/window_builder.h"

namespace profiler::fleet {

// Not thread-safe. Memory by what is distinct in the sums.
class StackSums {
 public:
  // Of the question `selection` does not matter.
  explicit StackSums(const StacksQuestion& question)
      : hosts_(question.tells_hosts_apart), times_(question.tells_times_apart) {}

  // Adds the rows that are wanted; a window without any adds nothing. Linear in its tables.
  void Add(const Window& window, absl::FunctionRef<bool(const Row&)> is_wanted);
  void Merge(StackSums other);

  // By host and begin. Once, last.
  std::vector<Window> Finish() &&;

 private:
  using Key = std::pair<std::string, UnixTime>;

  bool hosts_, times_;
  std::map<Key, WindowBuilder> sums_;
};

}  // namespace profiler::fleet

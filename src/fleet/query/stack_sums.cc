#include "src/fleet/query/stack_sums.h"

#include <algorithm>

namespace profiler::fleet {
void StackSums::Add(const Window& window, absl::FunctionRef<bool(const Row&)> is_wanted) {
  if (std::ranges::none_of(window.rows, is_wanted)) return;
  WindowBuilder& builder = sums_[{hosts_ ? window.host : std::string(), times_ ? window.begin : 0}];
  builder.AddFacts(window);
  builder.AddRows(window, is_wanted);
}

void StackSums::Merge(StackSums other) {
  for (auto& [key, builder] : other.sums_) {
    if (!sums_.contains(key)) {
      sums_.emplace(key, std::move(builder));
    } else {
      Add(std::move(builder).Finish(), [](const Row&) { return true; });
    }
  }
}

std::vector<Window> StackSums::Finish() && {
  std::vector<Window> windows;
  for (auto& [key, builder] : sums_) windows.push_back(std::move(builder).Finish());
  return windows;
}

}  // namespace profiler::fleet

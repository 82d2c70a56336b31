#include "src/fleet/query/stack_sums.h"

#include <algorithm>
#include <iterator>

namespace profiler::fleet {
namespace {

void Begin(const Window& window, Window& sum) {
  sum.host = window.host;
  sum.labels = window.labels;
  sum.begin = window.begin;
  sum.length = window.length;
  sum.frequency = window.frequency;
  sum.cpus = window.cpus;
  sum.version = window.version;
  sum.losses = window.losses;
}

// What is known of both stays known.
void Widen(const Window& window, Window& sum) {
  const UnixTime end = std::max(sum.begin + static_cast<UnixTime>(sum.length),
                                window.begin + static_cast<UnixTime>(window.length));
  sum.begin = std::min(sum.begin, window.begin);
  sum.length = static_cast<uint64_t>(end - sum.begin);
  if (sum.host != window.host) sum.host.clear();
  if (sum.host.empty() || sum.cpus != window.cpus) sum.cpus = 0;
  if (sum.frequency != window.frequency) sum.frequency = 0;
  if (sum.version != window.version) sum.version.clear();
  if (sum.labels != window.labels) {
    decltype(sum.labels) common;
    std::ranges::set_intersection(sum.labels, window.labels, std::back_inserter(common));
    sum.labels = std::move(common);
  }
  sum.losses.lost_samples += window.losses.lost_samples;
  sum.losses.chains += window.losses.chains;
  sum.losses.cut_chains += window.losses.cut_chains;
}

}  // namespace

void StackSums::Add(const Window& window, absl::FunctionRef<bool(const Row&)> is_wanted) {
  if (std::ranges::none_of(window.rows, is_wanted)) return;
  const auto [sum, is_new] =
      sums_.try_emplace({hosts_ ? window.host : std::string(), times_ ? window.begin : 0});
  WindowBuilder& builder = sum->second;
  is_new ? Begin(window, builder.window()) : Widen(window, builder.window());
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

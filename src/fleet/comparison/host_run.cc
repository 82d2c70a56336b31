#include "src/fleet/comparison/host_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/name_rules.h"

namespace profiler::fleet {
namespace {

class Maker {
 public:
  explicit Maker(const Window& window)
      : window_(window), key_of_frame_(window.frames.size(), kNone) {}

  diff::Run RunOf(std::string_view event) {
    run_.name = window_.host;
    run_.event = event;
    for (const Row& row : window_.rows) {
      if (window_.strings[window_.events[row.event].name] == event) Add(row);
    }
    for (std::vector<analysis::Measured>* all : {&run_.measured.self, &run_.measured.total}) {
      for (analysis::Measured& of : *all) CountChanges(of);
    }
    return std::move(run_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void Add(const Row& row) {
    ++row_;
    run_.measured.samples += row.samples;
    run_.measured.period += row.value;
    bool is_leaf = true;
    for (uint32_t at = row.stack; at != kNoCaller; at = window_.stacks[at].caller) {
      const analysis::KeyId key = KeyOf(window_.stacks[at].frame);
      if (is_leaf) Add(row, run_.measured.self[key]);
      is_leaf = false;
      // A recursive function counts the sample once.
      if (std::exchange(last_row_[key], row_) != row_) Add(row, run_.measured.total[key]);
    }
  }

  static void Add(const Row& row, analysis::Measured& to) {
    to.samples.count += row.samples;
    to.period += row.value;
  }

  analysis::KeyId KeyOf(uint32_t frame) {
    uint32_t& key = key_of_frame_[frame];
    if (key != kNone) return key;
    std::string name = analysis::SimplifiedName(window_.strings[window_.frames[frame].function],
                                                {.merge_clones = true});
    const auto [known, is_new] =
        keys_.try_emplace(std::move(name), static_cast<uint32_t>(run_.names.size()));
    if (is_new) {
      run_.names.push_back(known->first);
      run_.measured.self.emplace_back();
      run_.measured.total.emplace_back();
      last_row_.push_back(0);
    }
    return key = known->second;
  }

  // Sets the number of changes to the number that is expected if samples are independent.
  void CountChanges(analysis::Measured& of) const {
    const auto samples = static_cast<double>(run_.measured.samples);
    const double share = static_cast<double>(of.samples.count) / std::max(samples, 1.0);
    of.samples.samples = run_.measured.samples;
    of.samples.changes = static_cast<uint64_t>(std::llround(2 * share * (1 - share) * samples));
    of.samples.changes_at_two = of.samples.changes;
  }

  const Window& window_;
  diff::Run run_;
  std::vector<uint32_t> key_of_frame_;
  absl::flat_hash_map<std::string, analysis::KeyId> keys_;
  std::vector<uint64_t> last_row_;  // [k]: number of the last row with key k
  uint64_t row_ = 0;
};

}  // namespace

std::vector<Sum> SumsByEvent(std::span<const Window> windows) {
  std::map<std::string, Sum, std::less<>> sums;
  for (const Window& window : windows) {
    for (const Row& row : window.rows) {
      const std::string_view name = window.strings[window.events[row.event].name];
      auto sum = sums.find(name);
      if (sum == sums.end()) sum = sums.emplace(name, Sum{.keys = {std::string(name)}}).first;
      sum->second.samples += row.samples;
      sum->second.value += row.value;
    }
  }
  std::vector<Sum> result;
  for (auto& [name, sum] : sums) result.push_back(std::move(sum));
  return result;
}

diff::Run RunOfHost(const Window& window, std::string_view event) {
  return Maker(window).RunOf(event);
}

}  // namespace profiler::fleet

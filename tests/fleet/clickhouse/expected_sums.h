// Computes the sums that a server must return for given segments.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/fleet/query/source.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet::clickhouse {

// Sums of samples and values in segments. They are computed in a simple way: for each window per
// name, then over all windows.
class ExpectedSums {
 public:
  void Add(const Window& window) {
    std::map<StringId, Sum> services, self, total;
    std::set<StringId> functions;  // functions in one stack
    for (const Row& row : window.rows) {
      functions.clear();
      for (uint32_t at = row.stack; at != kNoCaller; at = window.stacks[at].caller) {
        functions.insert(window.frames[window.stacks[at].frame].function);
      }
      Count(services[window.workloads[row.workload].service], row.samples, row.value);
      const Frame& leaf = window.frames[window.stacks[row.stack].frame];
      Count(self[leaf.function], row.samples, row.value);
      for (const StringId function : functions) Count(total[function], row.samples, row.value);
    }
    AddAll(window, window.host, services);
    AddAll(window, "self", self);
    AddAll(window, "total", total);
    lost_ += window.losses.lost_samples;
    chains_ += window.losses.chains;
  }

  // Returns one line per sum whose first key is `first`. If `first` is empty, returns the sums
  // whose first key is a host.
  std::string Lines(const std::string& first) const {
    std::string text;
    for (const auto& [keys, sum] : sums_) {
      const bool is_host = keys[0] != "self" && keys[0] != "total";
      if (first.empty() ? is_host : keys[0] == first) AppendLine(keys, sum, text);
    }
    return text;
  }
  std::string Losses() const { return absl::StrCat("lost ", lost_, " chains ", chains_, "\n"); }

  static void AppendLine(const std::vector<std::string>& keys, const Sum& sum, std::string& text) {
    absl::StrAppend(&text, absl::StrJoin(keys, " "), " ", sum.samples, " ", sum.value, "\n");
  }

 private:
  static void Count(Sum& sum, uint64_t samples, uint64_t value) {
    sum.samples += samples;
    sum.value += value;
  }
  void AddAll(const Window& window, const std::string& key, const std::map<StringId, Sum>& sums) {
    for (const auto& [name, sum] : sums) {
      Count(sums_[{key, std::string(window.strings[name])}], sum.samples, sum.value);
    }
  }

  std::map<std::vector<std::string>, Sum> sums_;
  uint64_t lost_ = 0, chains_ = 0;
};

}  // namespace profiler::fleet::clickhouse

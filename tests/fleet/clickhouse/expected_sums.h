// What a server is to say of segments.

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
#include "src/fleet/window.h"

namespace profiler::fleet::clickhouse {

// Sums of segments, added up here in the plainest way.
class ExpectedSums {
 public:
  void Add(const Window& window) {
    for (const Row& row : window.rows) {
      const Workload& workload = window.workloads[row.workload];
      const std::string service(window.strings[workload.service]);
      Count({window.host, service}, row);
      std::set<std::string> functions;
      for (uint32_t at = row.stack; at != kNoCaller; at = window.stacks[at].caller) {
        functions.emplace(window.strings[window.frames[window.stacks[at].frame].function]);
      }
      const Frame& leaf = window.frames[window.stacks[row.stack].frame];
      Count({"self", std::string(window.strings[leaf.function])}, row);
      for (const std::string& function : functions) Count({"total", function}, row);
    }
    lost_ += window.losses.lost_samples;
    chains_ += window.losses.chains;
  }

  // Sums whose first key begins so, as lines.
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
  void Count(const std::vector<std::string>& keys, const Row& row) {
    Sum& sum = sums_[keys];
    sum.samples += row.samples;
    sum.value += row.value;
  }

  std::map<std::vector<std::string>, Sum> sums_;
  uint64_t lost_ = 0, chains_ = 0;
};

}  // namespace profiler::fleet::clickhouse

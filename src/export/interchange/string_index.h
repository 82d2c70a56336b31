// The table of strings of pprof's and OpenTelemetry's profiles: strings by number, the first of
// which is the empty one.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace profiler::exports {

class StringIndex {
 public:
  StringIndex() { Of(""); }

  uint32_t Of(std::string_view text) {
    const auto [known, added] =
        index_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
    if (added) strings_.emplace_back(text);
    return known->second;
  }
  const std::vector<std::string>& strings() const { return strings_; }

 private:
  absl::flat_hash_map<std::string, uint32_t> index_;
  std::vector<std::string> strings_;
};

}  // namespace profiler::exports

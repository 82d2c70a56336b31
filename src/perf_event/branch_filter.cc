#include "src/perf_event/branch_filter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace profiler::perf_event {
namespace {

constexpr uint64_t kLevels = 7;

constexpr std::array<std::pair<std::string_view, uint64_t>, 19> kNames = {{
    {"u", 1ull << 0},          {"k", 1ull << 1},          {"hv", 1ull << 2},
    {"any", kBranchAny},       {"any_call", 1ull << 4},   {"any_ret", 1ull << 5},
    {"ind_call", 1ull << 6},   {"abort_tx", 1ull << 7},   {"in_tx", 1ull << 8},
    {"no_tx", 1ull << 9},      {"cond", 1ull << 10},      {"stack", 1ull << 11},
    {"ind_jmp", 1ull << 12},   {"call", 1ull << 13},      {"no_flags", 1ull << 14},
    {"no_cycles", 1ull << 15}, {"save_type", 1ull << 16}, {"hw_index", 1ull << 17},
    {"priv", 1ull << 18},
}};

}  // namespace

absl::StatusOr<uint64_t> ParseBranchFilter(std::string_view text) {
  uint64_t filter = 0;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    uint64_t bit = 0;
    for (const auto& [known, its_bit] : kNames) {
      if (name == known) bit = its_bit;
    }
    if (bit == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("branches: no '", std::string(name), "'; there are ", BranchFilterNames()));
    }
    filter |= bit;
  }
  return (filter & ~kLevels) == 0 ? filter | kBranchAny : filter;
}

std::string BranchFilterNames() {
  return absl::StrJoin(kNames, ",",
                       [](std::string* out, const auto& name) { out->append(name.first); });
}

}  // namespace profiler::perf_event

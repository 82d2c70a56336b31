#include "src/format/perf_event/branch_filter.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::perf_event {
namespace {

constexpr uint64_t kPrivilegeLevels = 7;

// The name of each bit.
constexpr std::array<std::string_view, 20> kNames = {
    "u",        "k",         "hv",        "any",      "any_call", "any_ret", "ind_call",
    "abort_tx", "in_tx",     "no_tx",     "cond",     "stack",    "ind_jmp", "call",
    "no_flags", "no_cycles", "save_type", "hw_index", "priv",     "counter",
};

// Returns 0 for an unknown name.
uint64_t BitOf(std::string_view name) {
  for (size_t bit = 0; bit < kNames.size(); ++bit) {
    if (absl::EqualsIgnoreCase(View(kNames[bit]), View(name))) return uint64_t{1} << bit;
  }
  return 0;
}

}  // namespace

absl::StatusOr<uint64_t> ParseBranchFilter(std::string_view text) {
  uint64_t filter = 0;
  for (const absl::string_view name : absl::StrSplit(View(text), ',')) {
    const uint64_t bit = BitOf({name.data(), name.size()});
    if (bit == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown branch filter '", name, "': use ", BranchFilterNames()));
    }
    filter |= bit;
  }
  return (filter & ~kPrivilegeLevels) == 0 ? filter | kBranchAny : filter;
}

std::string BranchFilterNames() {
  return absl::StrJoin(kNames, ", ",
                       [](std::string* out, std::string_view name) { out->append(name); });
}

}  // namespace profiler::perf_event

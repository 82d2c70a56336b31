// Converts filters of branch stacks (attr.branch_sample_type) between perf's names and bits.
//
// Source: enum perf_branch_sample_type in include/uapi/linux/perf_event.h, and the names in
// tools/perf/util/parse-branch-options.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::perf_event {

inline constexpr uint64_t kBranchAny = 1ull << 3;  // PERF_SAMPLE_BRANCH_ANY
// PERF_SAMPLE_BRANCH_CALL_STACK: calls that have not returned yet.
inline constexpr uint64_t kBranchCallStack = 1ull << 11;

// Returns the bits of a list like "any_call,u"; case does not matter. If only levels (u, k, hv) are
// named, adds "any"; perf would ignore the levels. If no level is named, the kernel uses the
// event's levels. Error: kInvalidArgument if `text` is empty or has an unknown name; the message
// lists the names. Thread-safe.
absl::StatusOr<uint64_t> ParseBranchFilter(std::string_view text);

// Returns all names: "u, k, hv, any, …".
std::string BranchFilterNames();

}  // namespace profiler::perf_event

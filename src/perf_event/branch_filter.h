// Which branches a branch stack has, as perf names them: attr.branch_sample_type.
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
// PERF_SAMPLE_BRANCH_CALL_STACK: the calls that have not returned yet.
inline constexpr uint64_t kBranchCallStack = 1ull << 11;

// "any_call,u" as bits; case does not matter. Where nothing but levels (u, k, hv) is named, any
// branches at these (perf forgets the levels then); the kernel takes the levels of the event where
// none are. kInvalidArgument, with the names that there are, for another one and for an empty text.
// Thread-safe.
absl::StatusOr<uint64_t> ParseBranchFilter(std::string_view text);

// All names: "u, k, hv, any, …".
std::string BranchFilterNames();

}  // namespace profiler::perf_event

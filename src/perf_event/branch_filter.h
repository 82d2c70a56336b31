// Which branches a branch stack has, as perf names them: attr.branch_sample_type.
//
// Source: enum perf_branch_sample_type in include/uapi/linux/perf_event.h, Linux 6.18.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::perf_event {

// "any_call,u" as bits. Where nothing but levels (u, k, hv) is named, any branches at these; the
// kernel takes the levels of the event where none are. kInvalidArgument, with the names that there
// are, for another one.
absl::StatusOr<uint64_t> ParseBranchFilter(std::string_view text);

// All names, comma separated.
std::string BranchFilterNames();

inline constexpr uint64_t kBranchAny = 1ull << 3;

}  // namespace profiler::perf_event

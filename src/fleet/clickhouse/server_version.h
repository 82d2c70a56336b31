// Versions of ClickHouse. A version begins with the year and the number of the release: 24.8 is the
// release of August 2024, and 18.16 is a release of 2018.

#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"

namespace profiler::fleet::clickhouse {

struct ServerVersion {
  uint32_t year = 0, release = 0;  // 24.8.4.13 is {24, 8}
  auto operator<=>(const ServerVersion&) const = default;
};

// The oldest supported version, which Debian packages.
inline constexpr ServerVersion kOldestVersion = {18, 16};
// The first version with LowCardinality, CODEC and TTL.
inline constexpr ServerVersion kWithCodecs = {20, 3};
// The first version that detects repeated blocks even in tables without replicas.
inline constexpr ServerVersion kWithOwnDeduplication = {21, 4};
// The first version with maps, and with times in nanoseconds.
inline constexpr ServerVersion kWithMaps = {21, 8};
// The first version that may collect small inserts of several clients before it writes them. A
// setting turns this off.
inline constexpr ServerVersion kWithAsynchronousInserts = {21, 11};
// The first version with the text index that the Collector's table needs.
inline constexpr ServerVersion kWithTextIndexes = {26, 2};

// Parses "18.16.1" or "24.8.4.13". Returns kInvalidArgument for malformed text, and kUnimplemented
// for versions older than kOldestVersion.
absl::StatusOr<ServerVersion> ParseVersion(std::string_view text);

}  // namespace profiler::fleet::clickhouse

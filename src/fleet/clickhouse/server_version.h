// Which ClickHouse a server is: its versions count years and months since 18.

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

// The oldest one that the statements and the tests are made for, which Debian has.
inline constexpr ServerVersion kOldestVersion = {18, 16};
// Has LowCardinality, CODEC and TTL.
inline constexpr ServerVersion kWithCodecs = {20, 3};
// Tells blocks of a table without replicas apart that it had before.
inline constexpr ServerVersion kWithOwnDeduplication = {21, 4};
// Has maps, and times of nanoseconds.
inline constexpr ServerVersion kWithMaps = {21, 8};
// May collect small inserts of several clients before it writes them, unless it is told not to.
inline constexpr ServerVersion kWithAsynchronousInserts = {21, 11};
// Has the index of texts that the Collector's table asks for.
inline constexpr ServerVersion kWithTextIndexes = {26, 2};

// "18.16.1" or "24.8.4.13". kInvalidArgument for anything else; kUnimplemented for one that is
// older than kOldestVersion.
absl::StatusOr<ServerVersion> ParseVersion(std::string_view text);

}  // namespace profiler::fleet::clickhouse

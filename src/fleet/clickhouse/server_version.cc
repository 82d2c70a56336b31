#include "src/fleet/clickhouse/server_version.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::fleet::clickhouse {

absl::StatusOr<ServerVersion> ParseVersion(std::string_view text) {
  ServerVersion version;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.year);
  if (error != std::errc() || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, version.release).ec != std::errc()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(text), "' is not a version of ClickHouse such as 18.16.1"));
  }
  if (version < kOldestVersion) {
    return absl::UnimplementedError(
        absl::StrCat("ClickHouse ", View(text), " is too old; 18.16 or newer is needed"));
  }
  return version;
}

}  // namespace profiler::fleet::clickhouse

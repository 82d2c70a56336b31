// Where segments are pushed to, as a person writes it:
//
//   clickhouse+http://host:8123/database
//   otlp+https://collector.example:4318
//   pyroscope+http://host:4040?format=pprof
//   └── kind ─┘ └── url ──────────┘└ parameters
//
// A user, a password, a token and certificates are no part of it: they come from files
// (src/http/http_client.h).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace profiler::fleet {

enum class DestinationKind : uint8_t { kClickHouse, kOtlp, kPyroscope };

struct Destination {
  DestinationKind kind = DestinationKind::kOtlp;
  // "https://collector.example:4318", with a path where one was given (of ClickHouse never); no
  // slash at its end. Without a port it has the one that servers of the kind have by default.
  std::string url;
  std::string database;  // of ClickHouse; empty: the one that the server has by default
  std::vector<std::pair<std::string, std::string>> parameters;  // each name once

  // Empty where it was not given.
  std::string_view Parameter(std::string_view name) const;
  // The same for the same destination, however it was written.
  std::string Text() const;
  bool operator==(const Destination&) const = default;
};

// kInvalidArgument says what it should be.
absl::StatusOr<Destination> ParseDestination(std::string_view text);

}  // namespace profiler::fleet

// A destination: the server that segments are pushed to, as the user writes it.
//
//   clickhouse+http://host:8123/database
//   otlp+https://collector.example:4318
//   pyroscope+http://host:4040?format=pprof
//   └── kind ─┘ └── url ──────────┘└ parameters
//
// A destination never contains a user, a password, a token or certificates. These are read from
// files (src/http/http_client.h).

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
  // "https://collector.example:4318", with the path if one was given (never for ClickHouse),
  // without a slash at its end. A missing port is replaced by the default port of this kind of
  // server.
  std::string url;
  std::string database;  // for ClickHouse; empty: the server's default database
  std::vector<std::pair<std::string, std::string>> parameters;  // each name once

  // Returns the value of a parameter, or "" if it was not given.
  std::string_view Parameter(std::string_view name) const;
  // Returns the normalised text. Equal destinations have equal texts, even if users wrote them
  // differently.
  std::string Text() const;
  bool operator==(const Destination&) const = default;
};

// Parses a destination. Returns kInvalidArgument, which says what is expected, if it is malformed.
absl::StatusOr<Destination> ParseDestination(std::string_view text);

}  // namespace profiler::fleet

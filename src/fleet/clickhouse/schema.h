// The tables that a fleet's windows are kept in, as statements that make them.
//
//   stacks   (day, stack_hash) → function, frames, images        once a day and stack
//                     │
//   samples  (host, ts, event, who ran, stack_hash) → samples, value
//              │
//   windows  (host, ts) → length, frequency, cpus, losses        once a window
//
// Nothing in them is counted twice because it was sent twice: rows with the same key are the same
// row, in each table (ReplacingMergeTree), and the key of a sample says all but its two numbers.
// The server merges such rows sooner or later; that there are none meanwhile, which would be added
// up, is the sender's care (clickhouse_sender.h).
//
// On one server the tables are these. On a cluster each server has them as stacks_local,
// samples_local and windows_local, all three spread by stack_hash, or by host; `stacks`, `samples`
// and `windows` stand for all of them together.
//
// Partitions are days: a day is thrown away at once, by TTL, or by a person.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/server_version.h"

namespace profiler::fleet::clickhouse {

// Of our own tables. One more where a table has changed so that older programs cannot use it.
inline constexpr uint32_t kSchemaVersion = 1;

// Whose tables.
enum class Schema : uint8_t {
  kOwn,
  // Of Coroot, whose page shows them (profiling_stacks, profiling_samples, profiling_profiles).
  kCoroot,
  // Of the OpenTelemetry Collector's exporter for ClickHouse (otel_profiles). Its profiles are
  // experimental; the columns are those of July 2026.
  kOtel,
};
// "own", "coroot", "otel". kInvalidArgument for any other.
absl::StatusOr<Schema> ParseSchema(std::string_view text);

struct SchemaOptions {
  std::string database = "default";
  std::string cluster;      // empty: one server
  bool replicated = false;  // needs a cluster, ZooKeeper or Keeper, and macros {shard}, {replica}
  uint32_t keep_days = 0;   // 0: for ever
  Schema schema = Schema::kOwn;
  ServerVersion version = kOldestVersion;
};

// In the order in which they are to be run; again, they change nothing but for how long days are
// kept. Errors: kInvalidArgument where the options do not go together; kUnimplemented for what the
// server's version lacks, with what to do about it.
absl::StatusOr<std::vector<std::string>> CreationOf(const SchemaOptions& options);

// Asks which schema there is: one row, UInt32. Of a server without tables it is an error.
std::string SchemaVersionStatement(const std::string& database);

}  // namespace profiler::fleet::clickhouse

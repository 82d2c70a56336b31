// The tables for a fleet's windows, and the statements that create them.
//
//   stacks   (day, stack_hash) → function, frames, images             one per day and stack
//                     │
//   samples  (host, ts, event, workload, stack_hash) → samples, value
//              │
//   windows  (host, ts) → length, frequency, cpus, losses             one per window
//
// Rows that are sent twice count once. In each table, rows with equal keys are the same row
// (ReplacingMergeTree); the key of a sample contains everything except its two numbers. The server
// merges equal rows at some later time. Until then duplicates would be added up, so the sender
// avoids them (clickhouse_sender.h).
//
// On one server the tables have the names above. On a cluster, each server stores stacks_local,
// samples_local and windows_local, and `stacks`, `samples` and `windows` are the tables of the
// whole cluster. Stacks and samples are distributed over the servers by stack_hash, windows by
// host.
//
// Each partition is one day, so that a TTL or an administrator can drop a day at once.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/server_version.h"

namespace profiler::fleet::clickhouse {

// Version of this program's own tables. It is increased if a change makes a table unusable for
// older versions of this program.
inline constexpr uint32_t kSchemaVersion = 1;

// The program that the tables are made for.
enum class Schema : uint8_t {
  kOwn,
  // Coroot, whose page shows the tables profiling_stacks, profiling_samples and profiling_profiles.
  kCoroot,
  // The OpenTelemetry Collector's exporter for ClickHouse (otel_profiles). The exporter's profiles
  // are experimental; the columns are those of July 2026.
  kOtel,
};
// Parses "own", "coroot" or "otel". Returns kInvalidArgument for any other text.
absl::StatusOr<Schema> ParseSchema(std::string_view text);

struct SchemaOptions {
  std::string database = "default";
  std::string cluster;      // empty: one server
  bool replicated = false;  // needs a cluster, ZooKeeper or Keeper, and macros {shard}, {replica}
  uint32_t keep_days = 0;   // 0: for ever
  Schema schema = Schema::kOwn;
  ServerVersion version = kOldestVersion;
};

// Returns the statements in the order in which to run them. Running them again changes only the
// number of days to keep. Returns kInvalidArgument if options contradict each other, and
// kUnimplemented, with the remedy, if the server's version lacks a feature.
absl::StatusOr<std::vector<std::string>> CreationOf(const SchemaOptions& options);

// Returns a statement whose answer is the schema's version: one row, UInt32. It fails on a server
// without the tables.
std::string SchemaVersionStatement(const std::string& database);

}  // namespace profiler::fleet::clickhouse

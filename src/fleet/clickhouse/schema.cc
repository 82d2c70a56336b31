#include "src/fleet/clickhouse/schema.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/foreign_schemas.h"
#include "src/fleet/clickhouse/sql_text.h"

namespace profiler::fleet::clickhouse {
namespace {

// The kind of a column's values. Newer servers compress each kind in a different way.
enum class Kind : uint8_t { kDay, kTime, kFew, kText, kFewTexts, kTexts, kHash, kNumber, kReal };

struct Column {
  std::string_view name, type;
  Kind kind;
};

struct Table {
  std::string_view name;
  std::vector<Column> columns;
  std::string_view order;    // the key: rows with equal keys are merged
  std::string_view primary;  // a prefix of the key, for look-ups
  std::string_view spread;   // expression that distributes rows over shards
};

const std::vector<Table>& Tables() {
  static const auto* const tables = new std::vector<Table>{
      {"stacks",
       {{"day", "Date", Kind::kDay},
        {"stack_hash", "UInt64", Kind::kHash},
        {"function", "String", Kind::kText},        // the innermost function
        {"frames", "Array(String)", Kind::kTexts},  // functions, the outermost first
        {"images", "Array(String)", Kind::kFewTexts}},
       "stack_hash",
       "stack_hash",
       "stack_hash"},
      {"windows",
       {{"day", "Date", Kind::kDay},
        {"ts", "DateTime('UTC')", Kind::kTime},
        {"nanosecond", "UInt32", Kind::kNumber},
        {"host", "String", Kind::kFew},
        {"label_keys", "Array(String)", Kind::kFewTexts},
        {"label_values", "Array(String)", Kind::kFewTexts},
        {"length", "UInt64", Kind::kNumber},
        {"frequency", "Float64", Kind::kReal},
        {"cpus", "UInt32", Kind::kNumber},
        {"version", "String", Kind::kFew},
        {"lost_samples", "UInt64", Kind::kNumber},
        {"chains", "UInt64", Kind::kNumber},
        {"cut_chains", "UInt64", Kind::kNumber}},
       "host, ts, nanosecond",
       "host, ts",
       "cityHash64(host)"},
      {"samples",
       {{"day", "Date", Kind::kDay},
        {"ts", "DateTime('UTC')", Kind::kTime},
        {"nanosecond", "UInt32", Kind::kNumber},
        {"host", "String", Kind::kFew},
        {"label_keys", "Array(String)", Kind::kFewTexts},
        {"label_values", "Array(String)", Kind::kFewTexts},
        {"service", "String", Kind::kFew},
        {"program", "String", Kind::kFew},
        {"container", "String", Kind::kText},
        {"pod", "String", Kind::kText},
        {"build_id", "String", Kind::kFew},
        {"event", "String", Kind::kFew},
        {"stack_hash", "UInt64", Kind::kHash},
        {"samples", "UInt64", Kind::kNumber},
        {"value", "UInt64", Kind::kNumber}},
       // The event comes first, so that the key shows whether there are several events.
       "event, service, ts, host, program, container, pod, build_id, nanosecond, stack_hash",
       "event, service, ts, host",
       "stack_hash"}};
  return *tables;
}

std::string TypeOf(const Column& column, ServerVersion version) {
  const std::string type(column.type);
  if (version < kWithCodecs) return type;
  switch (column.kind) {
    case Kind::kDay:
    case Kind::kTime:
      return absl::StrCat(type, " CODEC(Delta, ZSTD(1))");
    case Kind::kFew:
      return "LowCardinality(String) CODEC(ZSTD(1))";
    case Kind::kFewTexts:
      return "Array(LowCardinality(String)) CODEC(ZSTD(1))";
    case Kind::kText:
    case Kind::kTexts:
    case Kind::kReal:
      return absl::StrCat(type, " CODEC(ZSTD(1))");
    case Kind::kHash:
      return absl::StrCat(type, " CODEC(ZSTD(1))");
    case Kind::kNumber:
      return absl::StrCat(type, " CODEC(T64, ZSTD(1))");
  }
  return type;
}

std::string ColumnsOf(const Table& table, ServerVersion version) {
  return absl::StrJoin(table.columns, ",\n", [version](std::string* out, const Column& column) {
    absl::StrAppend(out, "  ", View(column.name), " ", TypeOf(column, version));
  });
}

class Creation {
 public:
  explicit Creation(const SchemaOptions& options)
      : options_(options),
        database_(QuotedName(options.database)),
        on_cluster_(options.cluster.empty()
                        ? ""
                        : absl::StrCat(" ON CLUSTER ", QuotedName(options.cluster))) {}

  std::vector<std::string> Statements() const {
    std::vector<std::string> statements = {
        absl::StrCat("CREATE DATABASE IF NOT EXISTS ", database_, on_cluster_)};
    for (const Table& table : Tables()) {
      statements.push_back(Stored(table));
      if (!options_.cluster.empty()) statements.push_back(Spread(table));
      if (options_.keep_days != 0) statements.push_back(Kept(table));
    }
    // The version is a view, because a view is created atomically on all servers. A table's row
    // could be lost.
    statements.push_back(absl::StrCat("CREATE VIEW IF NOT EXISTS ", database_, ".profiler_schema",
                                      on_cluster_, " AS SELECT toUInt32(", kSchemaVersion,
                                      ") AS version"));
    return statements;
  }

 private:
  std::string LocalName(const Table& table) const {
    return absl::StrCat(View(table.name), options_.cluster.empty() ? "" : "_local");
  }

  std::string Engine(const Table& table) const {
    if (!options_.replicated) return "ReplacingMergeTree()";
    return absl::StrCat("ReplicatedReplacingMergeTree(",
                        Quoted(absl::StrCat("/clickhouse/tables/{shard}/", options_.database, "/",
                                            View(table.name), "_", kSchemaVersion)),
                        ", '{replica}')");
  }

  // Sets the number of last blocks that the server remembers, so that it accepts each block once.
  // ZooKeeper stores some 300 bytes per block. Newer servers also remember the blocks of tables
  // without replicas.
  std::string Settings() const {
    std::string settings = "index_granularity = 8192";
    if (options_.replicated) {
      absl::StrAppend(&settings, ", replicated_deduplication_window = 10000, ",
                      "replicated_deduplication_window_seconds = 604800");
    } else if (options_.version >= kWithOwnDeduplication) {
      absl::StrAppend(&settings, ", non_replicated_deduplication_window = 10000");
    }
    if (options_.version >= kWithCodecs) absl::StrAppend(&settings, ", ttl_only_drop_parts = 1");
    return settings;
  }

  std::string Stored(const Table& table) const {
    return absl::StrCat("CREATE TABLE IF NOT EXISTS ", database_, ".", LocalName(table),
                        on_cluster_, "\n(\n", ColumnsOf(table, options_.version),
                        "\n)\nENGINE = ", Engine(table), "\nPARTITION BY day\nPRIMARY KEY (",
                        View(table.primary), ")\nORDER BY (", View(table.order), ")\nSETTINGS ",
                        Settings());
  }

  std::string Spread(const Table& table) const {
    return absl::StrCat("CREATE TABLE IF NOT EXISTS ", database_, ".", View(table.name),
                        on_cluster_, " AS ", database_, ".", LocalName(table),
                        "\nENGINE = Distributed(", QuotedName(options_.cluster), ", ", database_,
                        ", ", LocalName(table), ", ", View(table.spread), ")");
  }

  std::string Kept(const Table& table) const {
    return absl::StrCat("ALTER TABLE ", database_, ".", LocalName(table), on_cluster_,
                        " MODIFY TTL day + INTERVAL ", options_.keep_days + 1, " DAY");
  }

  const SchemaOptions& options_;
  const std::string database_, on_cluster_;
};

}  // namespace

absl::StatusOr<Schema> ParseSchema(std::string_view text) {
  if (text == "own") return Schema::kOwn;
  if (text == "coroot") return Schema::kCoroot;
  if (text == "otel") return Schema::kOtel;
  return absl::InvalidArgumentError(
      absl::StrCat("'", View(text), "' is not a schema; give own, coroot or otel"));
}

absl::StatusOr<std::vector<std::string>> CreationOf(const SchemaOptions& options) {
  if (options.replicated && options.cluster.empty()) {
    return absl::InvalidArgumentError(
        "--replicated: name the cluster whose servers are the replicas (--cluster NAME)");
  }
  if (options.keep_days != 0 && options.version < kWithCodecs) {
    return absl::UnimplementedError(
        absl::StrCat("--ttl: this version of ClickHouse does not delete old rows by itself; leave "
                     "out --ttl, and ",
                     "run ALTER TABLE samples DROP PARTITION '2026-11-26' from cron, also for "
                     "stacks and windows"));
  }
  if (options.schema != Schema::kOwn) return ForeignCreationOf(options);
  return Creation(options).Statements();
}

std::string SchemaVersionStatement(const std::string& database) {
  return absl::StrCat("SELECT version FROM ", QuotedName(database), ".profiler_schema");
}

}  // namespace profiler::fleet::clickhouse

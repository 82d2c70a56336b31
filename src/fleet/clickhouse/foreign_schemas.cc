#include "src/fleet/clickhouse/foreign_schemas.h"

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/sql_text.h"

namespace profiler::fleet::clickhouse {
namespace {

constexpr std::string_view kFew = "LowCardinality(String) CODEC(ZSTD(1))";
constexpr std::string_view kTime = "DateTime64(9) CODEC(Delta, ZSTD(1))";
constexpr std::string_view kMap = "Map(LowCardinality(String), String) CODEC(ZSTD(1))";
constexpr std::string_view kFewTexts = "Array(LowCardinality(String)) CODEC(ZSTD(1))";

std::string Ttl(std::string_view time, uint32_t days) {
  if (days == 0) return "";
  return absl::StrCat("\nTTL toDateTime(", View(time), ") + toIntervalDay(", days, ")");
}

// Makes the server recognise repeated blocks, as for our own tables.
constexpr std::string_view kDeduplication = "non_replicated_deduplication_window = 10000";

struct ForeignColumn {
  std::string_view name, type;
};

std::string ColumnsOf(std::span<const ForeignColumn> columns) {
  std::string text;
  for (const ForeignColumn& column : columns) {
    absl::StrAppend(&text, text.empty() ? "" : ",\n", "  ", View(column.name), " ",
                    View(column.type));
  }
  return text;
}

std::vector<std::string> CorootCreation(const SchemaOptions& options) {
  const std::string database = QuotedName(options.database);
  constexpr std::array<ForeignColumn, 4> kStacks = {{{"ServiceName", kFew},
                                                     {"Hash", "UInt64 CODEC(ZSTD(1))"},
                                                     {"LastSeen", kTime},
                                                     {"Stack", "Array(String) CODEC(ZSTD(1))"}}};
  constexpr std::array<ForeignColumn, 7> kSamples = {{{"ServiceName", kFew},
                                                      {"Type", kFew},
                                                      {"Start", kTime},
                                                      {"End", kTime},
                                                      {"Labels", kMap},
                                                      {"StackHash", "UInt64 CODEC(ZSTD(1))"},
                                                      {"Value", "Int64 CODEC(ZSTD(1))"}}};
  constexpr std::array<ForeignColumn, 3> kProfiles = {
      {{"ServiceName", kFew}, {"Type", kFew}, {"LastSeen", kTime}}};
  return {absl::StrCat("CREATE DATABASE IF NOT EXISTS ", database),
          absl::StrCat("CREATE TABLE IF NOT EXISTS ", database, ".profiling_stacks\n(\n",
                       ColumnsOf(kStacks), "\n)\nENGINE = ReplacingMergeTree()",
                       "\nPARTITION BY toDate(LastSeen)\nPRIMARY KEY (ServiceName, Hash)",
                       "\nORDER BY (ServiceName, Hash)", Ttl("LastSeen", options.keep_days)),
          absl::StrCat("CREATE TABLE IF NOT EXISTS ", database, ".profiling_samples\n(\n",
                       ColumnsOf(kSamples), "\n)\nENGINE = MergeTree()",
                       "\nPARTITION BY toDate(Start)\nORDER BY (ServiceName, Type, ",
                       "toUnixTimestamp(Start), toUnixTimestamp(End))",
                       Ttl("Start", options.keep_days), "\nSETTINGS ", View(kDeduplication)),
          absl::StrCat("CREATE TABLE IF NOT EXISTS ", database, ".profiling_profiles\n(\n",
                       ColumnsOf(kProfiles), "\n)\nENGINE = ReplacingMergeTree()",
                       "\nPARTITION BY toDate(LastSeen)\nPRIMARY KEY (ServiceName, Type)",
                       "\nORDER BY (ServiceName, Type)", Ttl("LastSeen", options.keep_days)),
          absl::StrCat("CREATE MATERIALIZED VIEW IF NOT EXISTS ", database,
                       ".profiling_profiles_mv TO ", database, ".profiling_profiles AS\n",
                       "SELECT ServiceName, Type, max(End) AS LastSeen FROM ", database,
                       ".profiling_samples GROUP BY ServiceName, Type")};
}

// Returns columns that are computed from the resource's attributes.
std::string MaterializedOf() {
  std::string text;
  for (const std::string_view attribute :
       {"k8s.cluster.name", "k8s.container.name", "k8s.deployment.name", "k8s.namespace.name",
        "k8s.node.name", "k8s.pod.name", "k8s.pod.uid", "deployment.environment.name",
        "service.namespace", "service.instance.id"}) {
    absl::StrAppend(&text, ",\n  ",
                    QuotedName(absl::StrCat("__otel_materialized_", View(attribute))),
                    " LowCardinality(String) MATERIALIZED ResourceAttributes[", Quoted(attribute),
                    "] CODEC(ZSTD(1))");
  }
  return text;
}

std::string IndexesOf() {
  struct Index {
    std::string_view name, of, tokenizer;
  };
  constexpr std::array<Index, 7> kIndexes = {
      {{"idx_profile_id", "ProfileId", "array"},
       {"idx_trace_id", "TraceId", "array"},
       {"idx_res_attr_key", "mapKeys(ResourceAttributes)", "array"},
       {"idx_res_attr_value", "mapValues(ResourceAttributes)", "array"},
       {"idx_sample_attr_key", "mapKeys(SampleAttributes)", "array"},
       {"idx_sample_attr_value", "mapValues(SampleAttributes)", "array"},
       {"idx_function_names", "FunctionNames", "splitByNonAlpha"}}};
  std::string text;
  for (const Index& index : kIndexes) {
    absl::StrAppend(&text, ",\n  INDEX ", View(index.name), " ", View(index.of),
                    " TYPE text(tokenizer = ", Quoted(index.tokenizer), ")");
  }
  return text;
}

std::vector<std::string> OtelCreation(const SchemaOptions& options) {
  const std::string database = QuotedName(options.database);
  constexpr std::string_view kText = "String CODEC(ZSTD(1))";
  constexpr std::array<ForeignColumn, 24> kColumns = {
      {{"Timestamp", kTime},
       {"ProfileId", kText},
       {"SampleType", kFew},
       {"SampleUnit", kFew},
       {"ServiceName", kFew},
       {"ResourceAttributes", kMap},
       {"ScopeName", kText},
       {"ScopeVersion", kText},
       {"ProfileAttributes", kMap},
       {"SampleAttributes", kMap},
       {"StackHash", "UInt64 CODEC(ZSTD(1))"},
       {"Addresses", "Array(UInt64) CODEC(ZSTD(1))"},
       {"FunctionNames", kFewTexts},
       {"FileNames", kFewTexts},
       {"LineNumbers", "Array(Int32) CODEC(ZSTD(1))"},
       {"MappingFileNames", kFewTexts},
       {"Values", "Array(Int64) CODEC(ZSTD(1))"},
       {"TimestampsUnixNano", "Array(UInt64) CODEC(ZSTD(1))"},
       {"DurationNano", "UInt64 CODEC(ZSTD(1))"},
       {"Period", "Int64 CODEC(ZSTD(1))"},
       {"PeriodType", kFew},
       {"PeriodUnit", kFew},
       {"TraceId", kText},
       {"SpanId", kText}}};
  return {absl::StrCat("CREATE DATABASE IF NOT EXISTS ", database),
          absl::StrCat("CREATE TABLE IF NOT EXISTS ", database, ".otel_profiles\n(\n",
                       ColumnsOf(kColumns), MaterializedOf(), IndexesOf(),
                       "\n)\nENGINE = MergeTree()\nPARTITION BY toDate(Timestamp)",
                       "\nORDER BY (ServiceName, SampleType, toDateTime(Timestamp))",
                       Ttl("Timestamp", options.keep_days),
                       "\nSETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, ",
                       View(kDeduplication))};
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ForeignCreationOf(const SchemaOptions& options) {
  if (!options.cluster.empty()) {
    return absl::UnimplementedError(
        "--schema coroot and otel cannot be used with --cluster; let Coroot or the OpenTelemetry "
        "Collector create the tables");
  }
  const bool is_otel = options.schema == Schema::kOtel;
  if (options.version < (is_otel ? kWithTextIndexes : kWithMaps)) {
    return absl::UnimplementedError(absl::StrCat("--schema ", is_otel ? "otel" : "coroot",
                                                 ": needs ClickHouse ", is_otel ? "26.2" : "21.8",
                                                 " or newer; use --schema own with this server"));
  }
  return is_otel ? OtelCreation(options) : CorootCreation(options);
}

}  // namespace profiler::fleet::clickhouse

#include "tests/fleet/clickhouse/newest.h"

#include <fstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/foreign_rows.h"
#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/schema.h"
#include "src/fleet/clickhouse/statements.h"
#include "src/fleet/segments/segment_directory.h"
#include "tests/fleet/clickhouse/expected_sums.h"

namespace profiler::fleet::clickhouse {
namespace {

constexpr ServerVersion kNewest = {26, 7};

// A collector of statements. It also writes the RowBinary files that the statements read. Columns
// of the files have the types of the table's columns, without storage options.
class Statements {
 public:
  Statements(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Create(Schema schema, const std::string& database) {
    PROFILER_ASSIGN_OR_RETURN(
        const auto statements,
        CreationOf(
            {.database = database, .keep_days = 3000, .schema = schema, .version = kNewest}));
    for (const std::string& statement : statements) Add(statement);
    Add(absl::StrCat("USE ", database));
    return absl::OkStatus();
  }

  void Insert(std::string_view table, std::string_view columns, std::string_view types,
              const Rows& rows) {
    const std::string file = absl::StrCat(folder_, "/", View(table), ".rows");
    std::ofstream(file, std::ios::binary) << rows.body;
    Add(absl::StrCat("INSERT INTO ", View(table), " (", View(columns), ") SELECT ", View(columns),
                     " FROM file('", file, "', RowBinary, '", View(types), "')"));
  }

  void Add(std::string_view statement) { absl::StrAppend(&text_, View(statement), "\n--\n"); }

  void Write() const { std::ofstream(folder_ + "/statements.sql") << text_; }

 private:
  const std::string folder_;
  std::string text_;
};

absl::Status AddOwn(const Batch& batch, Statements& statements) {
  PROFILER_RETURN_IF_ERROR(statements.Create(Schema::kOwn, "own"));
  std::vector<SentStacks::Stack> fresh;
  statements.Insert("stacks", StackColumns(),
                    "day Date, stack_hash UInt64, function String, frames Array(String), images "
                    "Array(String)",
                    batch.StackRows({}, &fresh));
  statements.Insert("windows", WindowColumns(),
                    "day Date, ts DateTime, nanosecond UInt32, host String, label_keys "
                    "Array(String), label_values Array(String), length UInt64, frequency Float64, "
                    "cpus UInt32, version String, lost_samples UInt64, chains UInt64, cut_chains "
                    "UInt64",
                    batch.WindowRows());
  statements.Insert("samples", SampleColumns(),
                    "day Date, ts DateTime, nanosecond UInt32, host String, label_keys "
                    "Array(String), label_values Array(String), service String, program String, "
                    "container String, pod String, build_id String, event String, stack_hash "
                    "UInt64, samples UInt64, value UInt64",
                    batch.SampleRows());
  constexpr size_t kAll = 10'000'000;
  const std::vector<FieldName> by = {{.field = Field::kHost, .label = {}},
                                     {.field = Field::kService, .label = {}}};
  // Conditions that every row meets. So each kind of condition is tested, and no row is lost.
  Selection selection = {.since = 1, .until = 4'000'000'000'000'000'007};
  for (const char* condition : {"host~*", "release~1.*", "rack=", "service!=none", "event!~x_*"}) {
    PROFILER_ASSIGN_OR_RETURN(selection.conditions.emplace_back(), ParseCondition(condition));
  }
  statements.Add(StatementOf(SumsQuestion{.selection = selection, .by = by, .most = kAll}));
  for (const bool total : {false, true}) {
    statements.Add(StatementOf(SumsQuestion{
        .selection = selection, .by = {}, .functions = true, .total = total, .most = kAll}));
  }
  const StacksStatements stacks = StatementsOf(
      StacksQuestion{.selection = selection, .tells_hosts_apart = true, .tells_times_apart = true});
  statements.Add(absl::StrCat("SELECT count() FROM (", stacks.rows, ")"));
  statements.Add(absl::StrCat("SELECT count() FROM (", stacks.stacks, ")"));
  statements.Add(absl::StrCat("SELECT count() FROM (", stacks.windows, ")"));
  return absl::OkStatus();
}

constexpr std::string_view kCorootStackTypes =
    "ServiceName String, Hash UInt64, LastSeen DateTime64(9), Stack Array(String)";
constexpr std::string_view kCorootSampleTypes =
    "ServiceName String, Type String, Start DateTime64(9), End DateTime64(9), Labels Map(String, "
    "String), StackHash UInt64, Value Int64";
constexpr std::string_view kOtelTypes =
    "Timestamp DateTime64(9), ProfileId String, SampleType String, SampleUnit String, ServiceName "
    "String, ResourceAttributes Map(String, String), ScopeName String, ScopeVersion String, "
    "ProfileAttributes Map(String, String), SampleAttributes Map(String, String), StackHash "
    "UInt64, Addresses Array(UInt64), FunctionNames Array(String), FileNames Array(String), "
    "LineNumbers Array(Int32), MappingFileNames Array(String), Values Array(Int64), "
    "TimestampsUnixNano Array(UInt64), DurationNano UInt64, Period Int64, PeriodType String, "
    "PeriodUnit String, TraceId String, SpanId String";

absl::Status AddForeign(std::span<const Window> windows, Statements& statements) {
  PROFILER_RETURN_IF_ERROR(statements.Create(Schema::kCoroot, "coroot"));
  for (const ForeignRows& rows : ForeignRowsOf(Schema::kCoroot, windows)) {
    statements.Insert(rows.table, rows.columns,
                      rows.table == "profiling_stacks" ? kCorootStackTypes : kCorootSampleTypes,
                      rows.rows);
  }
  statements.Add(
      "SELECT sum(Value) FROM profiling_samples ALL INNER JOIN (SELECT ServiceName, Hash AS "
      "StackHash, Stack FROM profiling_stacks) AS s USING (ServiceName, StackHash) WHERE Type = "
      "'ebpf:cpu:nanoseconds' AND NOT empty(Stack)");
  PROFILER_RETURN_IF_ERROR(statements.Create(Schema::kOtel, "otel"));
  for (const ForeignRows& rows : ForeignRowsOf(Schema::kOtel, windows)) {
    statements.Insert(rows.table, rows.columns, kOtelTypes, rows.rows);
  }
  statements.Add(
      "SELECT sum(Values[1]) FROM otel_profiles WHERE SampleUnit = 'nanoseconds' AND NOT "
      "empty(FunctionNames) AND ResourceAttributes['service.name'] = ServiceName");
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteForNewest(const std::vector<std::string>& words) {
  PROFILER_ASSIGN_OR_RETURN(const SegmentDirectory segments, SegmentDirectory::Open(words[0]));
  PROFILER_ASSIGN_OR_RETURN(const auto files, segments.List(INT64_MIN, INT64_MAX));
  std::vector<Window> windows;
  ExpectedSums expected;
  uint64_t value = 0;
  for (const SegmentFile& file : files) {
    PROFILER_ASSIGN_OR_RETURN(windows.emplace_back(), segments.Read(file));
    expected.Add(windows.back());
    for (const Row& row : windows.back().rows) value += row.value;
  }
  PROFILER_ASSIGN_OR_RETURN(const Batch batch, Batch::Of(windows));
  Statements statements(words[1]);
  PROFILER_RETURN_IF_ERROR(AddOwn(batch, statements));
  PROFILER_RETURN_IF_ERROR(AddForeign(windows, statements));
  statements.Write();
  std::vector<SentStacks::Stack> stacks;
  batch.StackRows({}, &stacks);
  std::ofstream(words[1] + "/expected") << expected.Lines("") << expected.Lines("self")
                                        << expected.Lines("total") << batch.samples() << "\n"
                                        << stacks.size() << "\n"
                                        << windows.size() << "\n"
                                        << value << "\n"
                                        << value << "\n";
  return absl::OkStatus();
}

}  // namespace profiler::fleet::clickhouse

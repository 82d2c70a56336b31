#include "src/fleet/clickhouse/present_rows.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/sql_text.h"

namespace profiler::fleet::clickhouse {
namespace {

// Returns a query for the batch's groups (SampleGroup) that exist on the server. Its answer has a
// row for each such group, with the hashes of the group's stacks.
std::string Question(const Batch& batch) {
  constexpr std::string_view kGroup =
      "service, ts, nanosecond, host, event, program, container, pod, build_id";
  return absl::StrCat(
      "SELECT ", View(kGroup), ", groupUniqArray(stack_hash)\nFROM samples\nWHERE day BETWEEN ",
      "toDate(", batch.first().day, ") AND toDate(", batch.last().day, ") AND ts BETWEEN ",
      "toDateTime(", batch.first().second, ") AND toDateTime(", batch.last().second,
      ") AND host IN (",
      absl::StrJoin(batch.Hosts(), ", ",
                    [](std::string* out, const std::string& host) { *out += Quoted(host); }),
      ")\nGROUP BY ", View(kGroup), "\nFORMAT RowBinary");
}

SampleGroup ReadGroup(RowReader& row) {
  SampleGroup group;
  group.service = row.Text();
  group.time.second = row.Number<uint32_t>();
  group.time.day = static_cast<uint16_t>(group.time.second / kSecondsOfDay);
  group.time.nanosecond = row.Number<uint32_t>();
  for (std::string* text :
       {&group.host, &group.event, &group.program, &group.container, &group.pod, &group.build_id}) {
    *text = row.Text();
  }
  return group;
}

}  // namespace

absl::Status RemovePresentRows(Server& server, Batch& batch) {
  // Excludes replicas that lag behind, because they may not have the rows of other replicas yet.
  const Settings settings = {{"max_replica_delay_for_distributed_queries", "30"},
                             {"fallback_to_stale_replicas_for_distributed_queries", "0"},
                             {"skip_unavailable_shards", "0"}};
  PROFILER_ASSIGN_OR_RETURN(const std::string answer, server.Ask(Question(batch), settings));
  RowReader row(answer);
  while (row.ok() && !row.AtEnd()) {
    const SampleGroup group = ReadGroup(row);
    for (const uint64_t hash : row.Numbers()) batch.Remove(group, hash);
  }
  if (row.ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(server.address().url, " did not say which rows it already has"));
}

}  // namespace profiler::fleet::clickhouse

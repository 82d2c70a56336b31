#include "src/views/diff/diff_json.h"

#include "absl/strings/str_join.h"
#include "src/analysis/amount.h"
#include "src/views/diff/command_difference.h"
#include "src/views/json/recording_facts.h"

namespace profiler::diff {

using json::Value;

namespace {

const char* NameOf(analysis::KeyBy by) {
  switch (by) {
    case analysis::KeyBy::kFunction:
      return "function";
    case analysis::KeyBy::kLine:
      return "line";
    case analysis::KeyBy::kPath:
      break;
  }
  return "path";
}

Value Runs(std::span<const Run> runs) {
  Value list = Value::array();
  for (const Run& run : runs) {
    list.push_back({{"path", run.name},
                    {"event", run.event},
                    {"samples", run.measured.samples},
                    {"amount", run.measured.period},
                    {"missing", run.measured.missing_part}});
    if (!run.command.empty()) list.back()["command"] = absl::StrJoin(run.command, " ");
  }
  return list;
}

Value RowAsJson(const Row& row) {
  const double difference = row.share.difference();
  const double half = row.share.half_width();
  return {{"name", row.name},
          {"before", json::Share(row.share.before, row.before)},
          {"after", json::Share(row.share.after, row.after)},
          {"change", json::Share(difference, {.low = difference - half, .high = difference + half},
                                 row.after - row.before)},
          {"chance", row.share.chance},
          {"significant", row.significant}};
}

}  // namespace

std::string DiffAsJson(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
                       analysis::KeyBy by, Weight weight) {
  Value document = json::Document("diff");
  document["before"] = Runs(before);
  document["after"] = Runs(after);
  const CommandPart part = DifferenceOfCommands(before, after).part;
  if (part != CommandPart::kNone) {
    document["different_commands"] = part == CommandPart::kPrograms ? "programs" : "arguments";
  }
  document["unit"] = analysis::UnitOf(before.front().event);
  document["by"] = NameOf(by);
  document["weight"] = weight == Weight::kSelf ? "self" : "total";
  document["significant_chance"] = diff.significant_chance;
  document["smallest_detectable"] = diff.smallest_detectable;
  document["rows"] = Value::array();
  for (const Row& row : diff.rows) document["rows"].push_back(RowAsJson(row));
  return json::Text(document);
}

}  // namespace profiler::diff

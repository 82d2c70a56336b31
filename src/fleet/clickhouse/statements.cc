#include "src/fleet/clickhouse/statements.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/sql_text.h"

namespace profiler::fleet::clickhouse {
namespace {

constexpr int64_t kNoSecond = int64_t{1} << 32;  // more seconds than a DateTime can hold

std::string ColumnOf(const FieldName& field) {
  switch (field.field) {
    case Field::kBuildId:
      return "build_id";
    case Field::kLabel:
      // For an absent label indexOf is 0, and element 0 of an array is empty.
      return absl::StrCat("label_values[indexOf(label_keys, ", Quoted(field.label), ")]");
    default:
      return std::string(NameOf(field.field));
  }
}

std::string TextOf(const Condition& condition) {
  const std::string column = ColumnOf(condition.field);
  if (condition.is_pattern) {
    return absl::StrCat(column, condition.negated ? " NOT LIKE " : " LIKE ",
                        QuotedPattern(condition.value));
  }
  return absl::StrCat(column, condition.negated ? " != " : " = ", Quoted(condition.value));
}

bool IsOfMachine(const Condition& condition) {
  return condition.field.field == Field::kHost || condition.field.field == Field::kLabel;
}

// Returns the conditions on the interval's days, which choose partitions.
std::vector<std::string> DaysOf(const Selection& selection) {
  std::vector<std::string> conditions;
  const int64_t since = selection.since / kNanosecondsPerSecond,
                until = selection.until / kNanosecondsPerSecond;
  if (selection.until <= 0 || since >= kNoSecond) return {"0"};
  if (selection.since > 0) {
    conditions.push_back(absl::StrCat("day >= toDate(", since / kSecondsOfDay, ")"));
  }
  if (until < kNoSecond) {
    conditions.push_back(absl::StrCat("day <= toDate(", until / kSecondsOfDay, ")"));
  }
  return conditions;
}

// Returns all conditions on the interval. Conditions on days choose partitions; conditions on
// seconds find rows; conditions on nanoseconds apply within the first and last second.
std::vector<std::string> TimesOf(const Selection& selection) {
  std::vector<std::string> conditions = DaysOf(selection);
  if (conditions == std::vector<std::string>{"0"}) return conditions;
  const int64_t since = selection.since / kNanosecondsPerSecond,
                until = selection.until / kNanosecondsPerSecond;
  if (selection.since > 0) {
    conditions.push_back(absl::StrCat("ts >= toDateTime(", since, ")"));
    const int64_t rest = selection.since % kNanosecondsPerSecond;
    if (rest != 0) {
      conditions.push_back(
          absl::StrCat("(ts > toDateTime(", since, ") OR nanosecond >= ", rest, ")"));
    }
  }
  if (until < kNoSecond) {
    const int64_t rest = selection.until % kNanosecondsPerSecond;
    conditions.push_back(absl::StrCat("ts ", rest == 0 ? "<" : "<=", " toDateTime(", until, ")"));
    if (rest != 0) {
      conditions.push_back(
          absl::StrCat("(ts < toDateTime(", until, ") OR nanosecond < ", rest, ")"));
    }
  }
  return conditions;
}

std::string Where(const std::vector<std::string>& conditions) {
  return conditions.empty() ? "1" : absl::StrJoin(conditions, " AND ");
}

// Returns the conditions on `samples`.
std::string WhereOf(const Selection& selection) {
  std::vector<std::string> conditions = TimesOf(selection);
  for (const Condition& condition : selection.conditions) conditions.push_back(TextOf(condition));
  return Where(conditions);
}

// Returns the conditions on `windows`. Windows have no workloads, so the conditions select windows
// that contain samples of the selection.
std::string WhereOfWindows(const Selection& selection) {
  std::vector<std::string> conditions = TimesOf(selection);
  for (const Condition& condition : selection.conditions) {
    if (IsOfMachine(condition)) conditions.push_back(TextOf(condition));
  }
  conditions.push_back(
      absl::StrCat("(host, ts, nanosecond) GLOBAL IN (SELECT host, ts, nanosecond FROM samples ",
                   "WHERE ", WhereOf(selection), ")"));
  return Where(conditions);
}

// Returns the conditions on `stacks`. They select the stacks of selected samples; to find these
// costs as much as to add up the samples. So if all samples of the interval are selected, the
// conditions select all stacks of the interval's days instead, which are only slightly more.
std::string WhereOfStacks(const Selection& selection) {
  std::vector<std::string> conditions = DaysOf(selection);
  if (!selection.conditions.empty()) {
    conditions.push_back(absl::StrCat("stack_hash GLOBAL IN (SELECT stack_hash FROM samples WHERE ",
                                      WhereOf(selection), ")"));
  }
  return Where(conditions);
}

// Returns {"key0", "key1", …}.
std::vector<std::string> KeysOf(const SumsQuestion& question) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < question.by.size(); ++i) keys.push_back(absl::StrCat("key", i));
  return keys;
}

std::string KeyColumnsOf(const SumsQuestion& question) {
  std::string text;
  for (size_t i = 0; i < question.by.size(); ++i) {
    absl::StrAppend(&text, ColumnOf(question.by[i]), " AS key", i, ", ");
  }
  return text;
}

std::string GroupBy(const std::vector<std::string>& keys) {
  return keys.empty() ? "" : absl::StrCat("\nGROUP BY ", absl::StrJoin(keys, ", "));
}

std::string HeaviestFirst(const std::vector<std::string>& keys, size_t most) {
  std::vector<std::string> order = {"sum_value DESC"};
  order.insert(order.end(), keys.begin(), keys.end());
  return absl::StrCat("\nORDER BY ", absl::StrJoin(order, ", "), "\nLIMIT ", most);
}

std::string LinesByKeys(const SumsQuestion& question) {
  const std::vector<std::string> keys = KeysOf(question);
  return absl::StrCat("SELECT ", KeyColumnsOf(question),
                      "sum(samples) AS sum_samples, sum(value) AS sum_value\nFROM samples\nWHERE ",
                      WhereOf(question.selection), GroupBy(keys),
                      // If there are no keys, the server would return one line even for no samples.
                      keys.empty() ? "\nHAVING count() > 0" : "",
                      HeaviestFirst(keys, question.most));
}

std::string LinesByFunctions(const SumsQuestion& question) {
  std::vector<std::string> keys = KeysOf(question);
  const std::string unknown = Quoted(kUnknownFunction);
  // The names of a missing stack are empty. A stack may have several rows, for example one for each
  // day; the ANY join takes one of them.
  const std::string function = question.total ? absl::StrCat("arrayJoin(if(empty(names), [",
                                                             unknown, "], arrayDistinct(names)))")
                                              : absl::StrCat("if(known = 0, ", unknown, ", name)");
  const std::string names = question.total ? "frames AS names" : "function AS name";
  const std::string outer = absl::StrJoin(
      keys, "", [](std::string* out, const std::string& key) { absl::StrAppend(out, key, ", "); });
  std::vector<std::string> inner_keys = keys;
  inner_keys.emplace_back("stack_hash");
  keys.emplace_back("function_name");
  return absl::StrCat(
      "SELECT ", outer, function,
      " AS function_name, sum(stack_samples) AS sum_samples, sum(stack_value) AS sum_value\n",
      "FROM\n(\n  SELECT ", KeyColumnsOf(question),
      "stack_hash, sum(samples) AS stack_samples, sum(value) AS stack_value\n  FROM samples\n",
      "  WHERE ", WhereOf(question.selection), "\n  GROUP BY ", absl::StrJoin(inner_keys, ", "),
      "\n) AS sums\nANY LEFT JOIN\n(\n  SELECT stack_hash, toUInt8(1) AS known, ", names,
      "\n  FROM stacks\n  WHERE ", WhereOfStacks(question.selection),
      "\n) AS functions\nUSING (stack_hash)", GroupBy(keys), HeaviestFirst(keys, question.most));
}

}  // namespace

StacksStatements StatementsOf(const StacksQuestion& question) {
  const std::string times = question.tells_times_apart ? "ts, nanosecond, " : "";
  const std::string apart = absl::StrCat(question.tells_hosts_apart ? "host, " : "", times);
  const std::string keys =
      absl::StrCat(apart, "event, service, program, container, pod, build_id, stack_hash");
  StacksStatements statements;
  statements.rows =
      absl::StrCat("SELECT ", keys, ", sum(samples) AS sum_samples, sum(value) AS sum_value\n",
                   "FROM samples\nWHERE ", WhereOf(question.selection), "\nGROUP BY ", keys,
                   "\nORDER BY ", keys);
  statements.stacks = absl::StrCat("SELECT stack_hash, frames, images\nFROM stacks\nWHERE ",
                                   WhereOfStacks(question.selection), "\nLIMIT 1 BY stack_hash");
  // A window may have several rows until the server merges them.
  const std::string facts =
      "host, window_keys, window_values, window_frequency, window_cpus, window_version";
  statements.windows = absl::StrCat(
      "SELECT ", times, facts,
      ", min(window_begin) AS first, max(window_begin + window_length) AS last, ",
      "sum(window_lost), sum(window_chains), sum(window_cut)\nFROM\n(\n",
      "  SELECT host, ts, nanosecond, any(label_keys) AS window_keys, ",
      "any(label_values) AS window_values, any(frequency) AS window_frequency, ",
      "any(cpus) AS window_cpus, any(version) AS window_version, ",
      "toUInt64(toUInt32(ts)) * 1000000000 + nanosecond AS window_begin, ",
      "any(length) AS window_length, any(lost_samples) AS window_lost, ",
      "any(chains) AS window_chains, any(cut_chains) AS window_cut\n  FROM windows\n  WHERE ",
      WhereOfWindows(question.selection),
      "\n  GROUP BY host, ts, nanosecond\n) AS facts\nGROUP BY ", times, facts, "\nORDER BY host, ",
      times, "first, window_version, window_frequency, window_cpus");
  return statements;
}

std::string StatementOf(const SumsQuestion& question) {
  return question.functions ? LinesByFunctions(question) : LinesByKeys(question);
}

std::string AnyEventStatement(const Selection& selection) {
  return absl::StrCat("SELECT event\nFROM samples\nWHERE ", WhereOf(selection), "\nLIMIT 1");
}

}  // namespace profiler::fleet::clickhouse

#include "src/fleet/query/sums_json.h"

#include <string_view>

#include "src/analysis/amount.h"
#include "src/fleet/query/source_address.h"
#include "src/views/json/document.h"

namespace profiler::fleet {
namespace {

using json::Value;

Value Fields(const SumsQuestion& question) {
  Value fields = Value::array();
  for (const FieldName& name : question.by) {
    fields.push_back(name.field == Field::kLabel ? name.label : std::string(NameOf(name.field)));
  }
  if (question.functions) fields.push_back("function");
  return fields;
}

}  // namespace

std::string SumsAsJson(const AnsweredSums& sums) {
  const SumsQuestion& question = sums.question;
  const SumsOfEvent& answer = sums.answer;
  Value document = json::Document("query");
  document["source"] = sums.source;
  document["since"] = TextOfTime(question.selection.since);
  if (question.selection.until != INT64_MAX) {
    document["until"] = TextOfTime(question.selection.until);
  }
  document["where"] = Value::array();
  for (const Condition& condition : question.selection.conditions) {
    document["where"].push_back(TextOf(condition));
  }
  document["by"] = Fields(question);
  if (question.functions) document["weight"] = question.total ? "total" : "self";
  if (!answer.event.empty()) {
    document["event"] = answer.event;
    document["unit"] = analysis::UnitOf(answer.event);
    document["amount"] = answer.sums.value;
  }
  document["samples"] = answer.sums.samples;
  document["rows"] = Value::array();
  for (const Sum& line : answer.sums.lines) {
    document["rows"].push_back(
        {{"keys", line.keys}, {"samples", line.samples}, {"amount", line.value}});
  }
  document["notes"] = sums.notes;
  return json::Text(document);
}

}  // namespace profiler::fleet

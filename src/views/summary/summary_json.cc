#include "absl/strings/str_cat.h"
#include "src/analysis/amount.h"
#include "src/views/summary/summary.h"

namespace profiler::summary {

using json::Value;

namespace {

Value Function(const FunctionShare& function, bool is_count) {
  const Share& share = function.share;
  Value value = {{"function", function.name},
                 {"image", function.image},
                 {"self", is_count ? json::Share(share.part, share.amount)
                                   : json::Share(share.part, share.interval, share.amount)}};
  if (!function.source.empty()) value["source"] = function.source;
  if (function.samples_to_tell != 0) value["samples_to_tell"] = function.samples_to_tell;
  return value;
}

Value Functions(const Summary& summary) {
  Value functions = Value::array();
  for (const FunctionShare& function : summary.functions) {
    functions.push_back(Function(function, summary.is_count));
  }
  return functions;
}

Value Path(const Summary& summary) {
  Value path = Value::array();
  for (const PathStep& step : summary.path) {
    Value& value = path.emplace_back(Value{{"function", step.function}, {"share", step.part}});
    if (!step.source.empty()) value["source"] = step.source;
  }
  return path;
}

Value Threads(const Summary& summary) {
  Value threads = Value::array();
  for (const ThreadShare& thread : summary.threads) {
    threads.push_back({{"name", thread.name}, {"threads", thread.threads}, {"share", thread.part}});
  }
  return threads;
}

}  // namespace

std::string SummaryAsJson(const Summary& summary, const json::RecordingFacts& recording) {
  Value document = json::Document("summary");
  document["recording"] = json::Recording(recording);
  document["losses"] = json::Losses(summary.losses);
  document["chains"] = json::Chains(summary.chains);
  if (summary.whole_chains) document["chains"]["whole_part"] = *summary.whole_chains;
  document["event"] = summary.event;
  document["unit"] = analysis::UnitOf(summary.event);
  document["samples"] = summary.samples;
  document["amount"] = summary.amount;
  document["missing"] = summary.missing_part;
  document["intervals"] = !summary.is_count;
  document["functions"] = Functions(summary);
  document["others"] = {{"functions", summary.others}, {"share", summary.others_part}};
  document["path"] = Path(summary);
  document["modes"] = {{"user", summary.user},
                       {"kernel", summary.kernel},
                       {"idle", summary.idle},
                       {"elsewhere", summary.elsewhere}};
  document["threads"] = Threads(summary);
  document["other_threads"] = summary.other_threads;
  document["named"] = summary.named;
  if (summary.most_unnamed) {
    document["most_unnamed"] = {{"image", summary.most_unnamed->name},
                                {"share", summary.most_unnamed->part}};
  }
  if (summary.python) {
    document["unnamed_python"] = {{"version", absl::StrCat("3.", summary.python->minor)},
                                  {"share", summary.python->part}};
  }
  return json::Text(document);
}

}  // namespace profiler::summary

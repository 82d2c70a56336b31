// Checks a server against the segments that it must have, for tests/fleet/clickhouse/run:
//
//   trial compare SEGMENTS URL DATABASE   fails if a sum of the server is wrong
//   trial time URL DATABASE SECONDS       measures queries over the last SECONDS
//   trial newest SEGMENTS FOLDER          writes statements for newest.mjs, the rows that they
//                                         read, and the expected answers

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "src/fleet/clickhouse/clickhouse_source.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/http/http_client.h"
#include "tests/fleet/clickhouse/expected_sums.h"
#include "tests/fleet/clickhouse/newest.h"

namespace profiler::fleet::clickhouse {
namespace {

using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::unique_ptr<http::Client> Client() {
  auto client = http::CreateClient({});
  if (!client.ok()) {
    std::fprintf(stderr, "trial: %s\n", std::string(client.status().message()).c_str());
    std::exit(1);
  }
  return *std::move(client);
}

absl::StatusOr<std::string> LinesOf(Source& source, SumsQuestion question,
                                    const std::vector<std::string>& prefix) {
  question.most = 10'000'000;
  std::vector<std::string> notes;
  PROFILER_ASSIGN_OR_RETURN(const Sums sums, source.Sums(question, &notes));
  std::map<std::vector<std::string>, Sum> sorted;
  for (const Sum& line : sums.lines) {
    std::vector<std::string> keys = prefix;
    keys.insert(keys.end(), line.keys.begin(), line.keys.end());
    sorted[keys] = line;
  }
  std::string text;
  for (const auto& [keys, sum] : sorted) ExpectedSums::AppendLine(keys, sum, text);
  return text;
}

absl::Status Same(const std::string& what, const std::string& expected, const std::string& got) {
  if (expected == got) {
    std::printf("the same %s: %zu bytes of sums\n", what.c_str(), got.size());
    return absl::OkStatus();
  }
  size_t at = 0;
  while (at < expected.size() && at < got.size() && expected[at] == got[at]) ++at;
  at = at == 0 ? 0 : expected.rfind('\n', at - 1) + 1;
  return absl::InternalError(absl::StrCat(
      what, " differ: segments have ", expected.substr(at, expected.find('\n', at) - at),
      ", the server ", got.substr(at, got.find('\n', at) - at)));
}

absl::Status Compare(const Words& words) {
  PROFILER_ASSIGN_OR_RETURN(const SegmentDirectory segments, SegmentDirectory::Open(words[0]));
  PROFILER_ASSIGN_OR_RETURN(const auto files, segments.List(INT64_MIN, INT64_MAX));
  ExpectedSums expected;
  for (const SegmentFile& file : files) {
    PROFILER_ASSIGN_OR_RETURN(const Window window, segments.Read(file));
    expected.Add(window);
  }
  const auto source = ClickHouseSource(Client(), {.url = words[1], .database = words[2]});
  const std::vector<FieldName> by = {{.field = Field::kHost, .label = {}},
                                     {.field = Field::kService, .label = {}}};
  PROFILER_ASSIGN_OR_RETURN(const std::string hosts, LinesOf(*source, {.by = by}, {}));
  PROFILER_RETURN_IF_ERROR(Same("hosts and services", expected.Lines(""), hosts));
  PROFILER_ASSIGN_OR_RETURN(const std::string self,
                            LinesOf(*source, {.functions = true}, {"self"}));
  PROFILER_RETURN_IF_ERROR(Same("functions", expected.Lines("self"), self));
  PROFILER_ASSIGN_OR_RETURN(const std::string total,
                            LinesOf(*source, {.functions = true, .total = true}, {"total"}));
  PROFILER_RETURN_IF_ERROR(Same("functions with their callees", expected.Lines("total"), total));
  // Length in ns of the steps in which stacks are compared. For 500 hosts, an hour at once needs
  // more memory than a server allows for one query.
  constexpr UnixTime kAtOnce = 240'000'000'000;
  std::vector<std::string> notes;
  ExpectedSums of_stacks;
  const UnixTime last = files.empty() ? 0 : files.back().begin;
  for (UnixTime begin = files.empty() ? 1 : files.front().begin; begin <= last; begin += kAtOnce) {
    PROFILER_ASSIGN_OR_RETURN(
        const auto windows, source->Stacks({.selection = {.since = begin, .until = begin + kAtOnce},
                                            .tells_hosts_apart = true},
                                           &notes));
    for (const Window& window : windows) of_stacks.Add(window);
  }
  PROFILER_RETURN_IF_ERROR(Same("hosts by stacks", expected.Lines(""), of_stacks.Lines("")));
  PROFILER_RETURN_IF_ERROR(
      Same("functions by stacks", expected.Lines("total"), of_stacks.Lines("total")));
  PROFILER_RETURN_IF_ERROR(Same("losses", expected.Losses(), of_stacks.Losses()));
  for (const std::string& note : notes) std::printf("note: %s\n", note.c_str());
  return notes.empty() ? absl::OkStatus() : absl::InternalError("there are notes");
}

absl::Status Time(const Words& words) {
  const auto source = ClickHouseSource(Client(), {.url = words[0], .database = words[1]});
  Selection selection;
  PROFILER_ASSIGN_OR_RETURN(selection.since,
                            ParseTime(words[2] + "s", absl::ToUnixNanos(absl::Now())));
  const FieldName service = {.field = Field::kService, .label = {}};
  const Condition web = {.field = service, .value = "web"};
  Selection of_web = selection;
  of_web.conditions = {web};
  const std::vector<std::pair<const char*, SumsQuestion>> questions = {
      {"top functions", {.selection = selection, .functions = true}},
      {"top functions with callees", {.selection = selection, .functions = true, .total = true}},
      {"top functions of a service", {.selection = of_web, .functions = true}},
      {"services", {.selection = selection, .by = {service}}}};
  std::vector<std::string> notes;
  for (int round = 0; round < 3; ++round) {
    for (const auto& [name, question] : questions) {
      const auto begin = Clock::now();
      PROFILER_ASSIGN_OR_RETURN(const SumsOfEvent answer, source->SumsOfOneEvent(question, &notes));
      std::printf("%-28s %6.3f s, of %llu samples\n", name, SecondsSince(begin),
                  static_cast<unsigned long long>(answer.sums.samples));
    }
  }
  return absl::OkStatus();
}

int Run(Words words) {
  struct Task {
    const char* name;
    size_t least;
    absl::Status (*run)(const Words&);
  };
  constexpr Task kTasks[] = {
      {"compare", 3, Compare}, {"time", 3, Time}, {"newest", 2, WriteForNewest}};
  for (const Task& task : kTasks) {
    if (words.size() <= task.least || words[0] != task.name) continue;
    const absl::Status end = task.run({words.begin() + 1, words.end()});
    if (end.ok()) return 0;
    std::fprintf(stderr, "trial: %s\n", std::string(end.message()).c_str());
    return 1;
  }
  std::fprintf(stderr, "trial: see the head of tests/fleet/clickhouse/trial.cc\n");
  return 2;
}

}  // namespace
}  // namespace profiler::fleet::clickhouse

int main(int argc, char** argv) {
  return profiler::fleet::clickhouse::Run({argv + 1, argv + argc});
}

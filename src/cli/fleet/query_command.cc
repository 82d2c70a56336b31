// profiler query

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "src/cli/command.h"
#include "src/cli/files/export_recording.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/fleet/fleet_source.h"
#include "src/cli/fleet/server_arguments.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/report_options.h"
#include "src/fleet/comparison/fleet_diff.h"
#include "src/fleet/query/event_rule.h"
#include "src/fleet/query/source_address.h"
#include "src/fleet/query/sums_json.h"
#include "src/fleet/query/sums_text.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::cli {
namespace {

struct QueryArguments {
  std::string from;
  std::string since = "1h", until = "now";
  std::vector<std::string> where, by, before, after;
  uint32_t most = 20;
  bool total = false, all = false, times = false, json = false, markdown = false, sql = false;
  std::string output;
  http::Options server;
};

// Splits lists: "a,b", "c" → a, b, c.
std::vector<std::string> Split(const std::vector<std::string>& lists) {
  std::vector<std::string> parts;
  for (const std::string& list : lists) {
    for (const absl::string_view part : absl::StrSplit(list, ',')) parts.emplace_back(part);
  }
  return parts;
}

// The source, and the selection that all questions share.
struct Asked {
  std::string name;
  std::unique_ptr<fleet::Source> source;
  fleet::UnixTime now = 0;
  fleet::Selection selection;
};

absl::StatusOr<fleet::Selection> SelectionOf(const QueryArguments& arguments, fleet::UnixTime now) {
  fleet::Selection selection;
  const auto add = [&](std::string_view option, const std::string& term) {
    const absl::Status added = fleet::AddTerm(term, now, &selection);
    return added.ok() ? added : Prefixed(absl::StrCat(std::string(option), ": "), added);
  };
  PROFILER_RETURN_IF_ERROR(add("--since", "since=" + arguments.since));
  // With the default, "now", there is no upper limit. So windows that are written while the query
  // runs count, too.
  if (arguments.until != "now") {
    PROFILER_RETURN_IF_ERROR(add("--until", "until=" + arguments.until));
  }
  for (const std::string& condition : arguments.where) {
    PROFILER_RETURN_IF_ERROR(add("--where", "where=" + condition));
  }
  if (selection.since >= selection.until) {
    return absl::InvalidArgumentError(
        absl::StrCat("--since ", arguments.since, " is not before --until ", arguments.until));
  }
  return selection;
}

absl::StatusOr<fleet::SumsQuestion> SumsQuestionOf(const QueryArguments& arguments,
                                                   const fleet::Selection& selection) {
  fleet::SumsQuestion question = {
      .selection = selection, .total = arguments.total, .most = arguments.most};
  for (const std::string& name : Split(arguments.by)) {
    if (name == "function") {
      question.functions = true;
      continue;
    }
    auto field = fleet::ParseField(name);
    if (!field.ok()) return Prefixed("--by: ", field.status());
    question.by.push_back(*std::move(field));
  }
  if (arguments.by.empty()) question.functions = true;
  if (question.total && !question.functions) {
    return absl::InvalidArgumentError(
        "--total counts functions with their callees: add function to --by");
  }
  return question;
}

int Fail(const absl::Status& status) {
  PrintError(status);
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure;
}

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) PrintWarning(note);
}

int WriteText(const std::string& text, Lines lines, const std::vector<std::string>& notes) {
  Output output("-", lines);
  output.Write(text);
  const absl::Status written = output.Close();
  PrintNotes(notes);
  return written.ok() ? kExitOk : Fail(written);
}

int WriteTable(const QueryArguments& arguments, Asked& asked) {
  auto question = SumsQuestionOf(arguments, asked.selection);
  if (!question.ok()) return Fail(question.status());
  fleet::AnsweredSums sums{.source = asked.name, .question = *std::move(question)};
  auto answer = asked.source->SumsOfOneEvent(sums.question, &sums.notes);
  if (!answer.ok()) {
    PrintNotes(sums.notes);
    return Fail(answer.status());
  }
  sums.answer = *std::move(answer);
  return arguments.json ? WriteText(fleet::SumsAsJson(sums), Lines::kWhole, sums.notes)
                        : WriteText(fleet::FormatSums(sums), Lines::kFitted, sums.notes);
}

int WriteDiff(const QueryArguments& arguments, Asked& asked) {
  std::vector<std::string> notes;
  const auto text = FleetDiffText(*asked.source,
                                  {.selection = asked.selection,
                                   .before = Split(arguments.before),
                                   .after = Split(arguments.after),
                                   .now = asked.now,
                                   .total = arguments.total,
                                   .all = arguments.all,
                                   .json = arguments.json,
                                   .markdown = arguments.markdown},
                                  &notes);
  if (text.ok()) return WriteText(*text, arguments.json ? Lines::kWhole : Lines::kFitted, notes);
  PrintNotes(notes);
  return Fail(text.status());
}

int WriteRecording(const QueryArguments& arguments, Asked& asked) {
  const std::string& path = arguments.output;
  if (const absl::Status refused = CheckRecordingOutput(path, asked.name, "spool"); !refused.ok()) {
    return Fail(refused);
  }
  std::vector<std::string> notes;
  const auto written = WriteAnswer(
      *asked.source, asked.name,
      {.selection = asked.selection, .tells_times_apart = arguments.times}, path, &notes);
  PrintNotes(notes);
  if (!written.ok()) return Fail(written.status());
  PrintNote(absl::StrFormat("profiler query: %d samples, %.3f MB in %s", written->samples,
                            static_cast<double>(written->bytes) / 1e6,
                            path == "-" ? "standard output" : path));
  return kExitOk;
}

int WriteStatement(const QueryArguments& arguments, Asked& asked) {
  auto question = SumsQuestionOf(arguments, asked.selection);
  if (!question.ok()) return Fail(question.status());
  // Normally a first query chooses the event. It is not run here, so the statement groups by event.
  const auto names_event = [](const fleet::Condition& condition) {
    return condition.field.field == fleet::Field::kEvent;
  };
  if (!fleet::TellsEventsApart(*question) &&
      std::ranges::none_of(question->selection.conditions, names_event)) {
    question->by.insert(question->by.begin(), {.field = fleet::Field::kEvent, .label = {}});
  }
  const std::string statement =
      arguments.output.empty()
          ? asked.source->StatementOf(*question)
          : asked.source->StatementOf(fleet::StacksQuestion{.selection = asked.selection,
                                                            .tells_times_apart = arguments.times});
  if (statement.empty()) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("--sql: ", asked.name, " is a directory, which needs no statement; ",
                     "name a server, for example --from clickhouse+http://host:8123/database")));
  }
  return WriteText(statement, Lines::kWhole, {});
}

absl::StatusOr<Asked> Prepare(const QueryArguments& arguments) {
  Asked asked = {.name = arguments.from, .now = absl::ToUnixNanos(absl::Now())};
  PROFILER_ASSIGN_OR_RETURN(asked.selection, SelectionOf(arguments, asked.now));
  if (arguments.before.empty() != arguments.after.empty()) {
    return absl::InvalidArgumentError(
        "--before and --after must be given together: --before release=1.2 --after release=1.3");
  }
  if (asked.name.empty()) {
    asked.name = fleet::kUsualSpool;
    if (access(fleet::kUsualSpool, F_OK) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no agent keeps segments in ", fleet::kUsualSpool, "; start `profiler agent`, or name ",
          "another directory or a server with --from, for example "
          "clickhouse+http://host:8123/database"));
    }
  }
  PROFILER_ASSIGN_OR_RETURN(asked.source, SourceOf(asked.name, arguments.server));
  return asked;
}

int RunQuery(const QueryArguments& arguments) {
  auto asked = Prepare(arguments);
  if (!asked.ok()) return Fail(asked.status());
  if (arguments.sql) return WriteStatement(arguments, *asked);
  if (!arguments.before.empty()) return WriteDiff(arguments, *asked);
  if (!arguments.output.empty()) return WriteRecording(arguments, *asked);
  return WriteTable(arguments, *asked);
}

}  // namespace

void AddQueryCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand("query",
                                           "Query the profiles of machines that are recorded all "
                                           "the time, as a table, recording or diff");
  command.SetFooter(
      "Views can query, too: profiler report -i '/var/lib/profiler?since=1h&service=web'");
  auto arguments = std::make_shared<QueryArguments>();
  QueryArguments& a = *arguments;
  command
      .AddOption("--from", a.from,
                 absl::StrCat("directory of segments, or server, for example "
                              "clickhouse+http://host:8123/database (default: ",
                              fleet::kUsualSpool, ")"))
      .ValueName("DIR|URL");
  command
      .AddOption("--since", a.since,
                 "begin: 90s, 15m, 1h, 7d or 2w ago, or 2026-11-26T08:00:00Z (UTC)")
      .ValueName("TIME")
      .ShowDefault();
  command.AddOption("--until", a.until, "end, in the same forms").ValueName("TIME").ShowDefault();
  command
      .AddOption("--where", a.where,
                 "only samples that match: NAME=VALUE, NAME!=VALUE, NAME~PATTERN with *, or "
                 "NAME!~PATTERN; NAME is host, service, program, container, pod, build-id, event, "
                 "or a label of the host; may be given several times")
      .ValueName("COND")
      .OneValueEach();
  command
      .AddOption("--by", a.by,
                 "print one line for each: host, service, program, container, pod, build-id, "
                 "event, a label of the host, or function; several with commas or several times "
                 "(default: function)")
      .ValueName("NAME,…")
      .OneValueEach();
  const usage::Option before =
      command
          .AddOption(
              "--before", a.before,
              "compare, host by host, samples that match these conditions with samples that match "
              "--after; conditions are separated by commas, also since=TIME and until=TIME")
          .ValueName("COND,…")
          .OneValueEach();
  command.AddOption("--after", a.after, "conditions of the samples to compare with --before")
      .ValueName("COND,…")
      .OneValueEach();
  command.AddFlag("--total", a.total, "with --by function: weight of functions with their callees");
  command.AddFlag("--all", a.all,
                  "with --before and --after: also show changes within statistical noise");
  command.AddOption("-n,--rows", a.most, "print at most N lines")
      .ValueName("N")
      .Positive()
      .ShowDefault();
  const usage::Option markdown = command.AddFlag(
      "--markdown", a.markdown, "with --before and --after: print a Markdown table for a review");
  const usage::Option json = AddJsonOption(command, a.json).Excludes(markdown);
  command.AddFlag("--sql", a.sql, "print the SQL statement, but do not run it")
      .Excludes(json)
      .Excludes(before);
  command
      .AddOption("-o,--output", a.output,
                 "write a recording, which every view opens; - for standard output")
      .ValueName("FILE|-")
      .Excludes(json)
      .Excludes(before);
  command.AddFlag("--times", a.times,
                  "with -o: keep the time of each window, which makes the recording larger");
  AddServerOptions(command, a.server);
  commands[&command] = [arguments] { return RunQuery(*arguments); };
}

}  // namespace profiler::cli

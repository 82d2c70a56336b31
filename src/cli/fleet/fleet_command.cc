// profiler fleet init

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fleet/server_arguments.h"
#include "src/cli/terminal/output.h"
#include "src/fleet/clickhouse/create_tables.h"
#include "src/fleet/push/destination.h"

namespace profiler::cli {
namespace {

struct FleetArguments {
  std::string action;
  std::string to;
  std::string cluster;
  bool replicated = false;
  std::string keep;
  std::string schema = "own";
  bool print = false;
  http::Options server;
};

// Parses "30d" or "4w" to days.
absl::StatusOr<uint32_t> ReadDays(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  constexpr uint32_t kMost = 36'500;
  const bool is_weeks = unit + 1 == end && *unit == 'w';
  if (error != std::errc() || unit + 1 != end || (*unit != 'd' && !is_weeks) || number == 0 ||
      number > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("--ttl ", View(text), ": give it as 30d or 4w"));
  }
  return is_weeks ? number * 7 : number;
}

struct Task {
  std::string url;
  fleet::clickhouse::SchemaOptions options;
};

absl::StatusOr<Task> ReadTask(const FleetArguments& arguments) {
  PROFILER_ASSIGN_OR_RETURN(const fleet::Destination destination,
                            fleet::ParseDestination(arguments.to));
  if (destination.kind != fleet::DestinationKind::kClickHouse) {
    return absl::InvalidArgumentError(
        absl::StrCat("--to ", destination.Text(), ": only clickhouse+http:// servers need tables"));
  }
  Task task = {.url = destination.url, .options = {}};
  if (!destination.database.empty()) task.options.database = destination.database;
  task.options.cluster = arguments.cluster;
  task.options.replicated = arguments.replicated;
  if (!arguments.keep.empty()) {
    PROFILER_ASSIGN_OR_RETURN(task.options.keep_days, ReadDays(arguments.keep));
  }
  const std::string_view schema = destination.Parameter("schema");
  PROFILER_ASSIGN_OR_RETURN(task.options.schema, fleet::clickhouse::ParseSchema(
                                                     schema.empty() ? arguments.schema : schema));
  return task;
}

absl::Status Print(http::Client& client, const Task& task) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<std::string> statements,
                            fleet::clickhouse::CreationFor(client, task.url, task.options));
  Output output("-");
  for (const std::string& statement : statements) output.Write(absl::StrCat(statement, ";\n\n"));
  return output.Close();
}

absl::Status Make(http::Client& client, const Task& task) {
  PROFILER_ASSIGN_OR_RETURN(const fleet::clickhouse::CreatedTables created,
                            fleet::clickhouse::CreateTables(client, task.url, task.options));
  PrintNote(absl::StrCat(
      "profiler fleet: the tables ", created.were_there ? "were there already" : "are made", " in ",
      task.options.database, " of ", task.url, " (ClickHouse ", created.version, ")"));
  return absl::OkStatus();
}

int Init(const FleetArguments& arguments) {
  const auto task = ReadTask(arguments);
  if (!task.ok()) {
    PrintError(task.status());
    return kExitUsage;
  }
  const auto client = http::CreateClient(arguments.server);
  if (!client.ok()) {
    PrintError(client.status());
    return kExitFailure;
  }
  const absl::Status done = arguments.print ? Print(**client, *task) : Make(**client, *task);
  if (done.ok()) return kExitOk;
  PrintError(done);
  return absl::IsInvalidArgument(done) ? kExitUsage : kExitFailure;
}

}  // namespace

void AddFleetCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("fleet", "Create the tables for the profiles of a fleet");
  auto arguments = std::make_shared<FleetArguments>();
  FleetArguments& a = *arguments;
  command.AddOption("ACTION", a.action, "init: create the tables; existing tables stay unchanged")
      .OneOf({"init"})
      .Required();
  command
      .AddOption("--to", a.to,
                 "server and database, for example clickhouse+http://host:8123/profiles")
      .ValueName("URL")
      .Required();
  command
      .AddOption("--cluster", a.cluster, "distribute the tables over the servers of this cluster")
      .ValueName("NAME");
  command.AddFlag("--replicated", a.replicated,
                  "replicate each part of the tables within its shard");
  command.AddOption("--ttl", a.keep, "delete days that are older than this: 30d, 4w")
      .ValueName("AGE");
  command
      .AddOption("--schema", a.schema,
                 "schema of the tables: own, coroot, or otel (OpenTelemetry Collector)")
      .ValueName("NAME")
      .ShowDefault();
  command.AddFlag("--print", a.print, "print the statements for this server, but do not run them");
  AddServerOptions(command, a.server);
  commands[&command] = [arguments] { return Init(*arguments); };
}

}  // namespace profiler::cli

// profiler agent: records this machine all the time.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ringbuf/kernel.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fleet/server_arguments.h"
#include "src/cli/option_values.h"
#include "src/cli/recording/event_arguments.h"
#include "src/cli/recording/flight_arguments.h"
#include "src/cli/terminal/output.h"
#include "src/cli/version.h"
#include "src/cli/views/naming_arguments.h"
#include "src/fleet/agent/agent.h"
#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender_of_destination.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/http/http_client.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::cli {
namespace {

constexpr char kUsualEvent[] = "cpu-clock";

struct AgentArguments {
  std::string spool;
  std::string spool_size = "1G";
  EventArguments events;
  std::string window = "10s";
  std::string frequency = "19-99";
  double cpu_budget = 1;  // percent
  bool off_cpu = false;
  std::string memory = "128M";
  FlightArguments flight{.most_files = 10};
  uint64_t flight_frequency = 999;
  std::string host;
  std::vector<std::string> labels;
  std::string labels_file;
  bool inlines = false;
  bool no_sandbox = false;
  std::string metrics = "none";
  std::vector<std::string> destinations;
  http::Options servers;  // options for connections to the destinations
};

// Returns systemd's directory for a service that asks for one, or else the default.
std::string UsualSpool() {
  const char* directory = std::getenv("STATE_DIRECTORY");
  return directory == nullptr || *directory == '\0' ? fleet::kUsualSpool : directory;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

// Parses "19-99", or a single number, which fixes the rate.
absl::StatusOr<agent::RateBounds> ReadRates(std::string_view text) {
  constexpr uint64_t kUsual = 49, kMost = 999;
  const size_t dash = std::min(text.find('-'), text.size());
  const auto least = procfs::ParseNumber<uint64_t>(text.substr(0, dash));
  const auto most =
      dash == text.size() ? least : procfs::ParseNumber<uint64_t>(text.substr(dash + 1));
  if (!least || !most || *least == 0 || *most > kMost || *least > *most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--frequency: '", View(text),
        "' is not a range of frequencies such as 19-99; values from 1 to ", kMost, " are allowed"));
  }
  return agent::RateBounds{
      .least = *least, .most = *most, .first = std::clamp(kUsual, *least, *most)};
}

template <class Value>
absl::Status Read(const char* option, absl::StatusOr<Value> read, Value& value) {
  if (!read.ok()) return Prefixed(absl::StrCat(option, ": "), read.status());
  value = *std::move(read);
  return absl::OkStatus();
}

// Adds a sender for each destination that --to names; ignores repetitions.
absl::Status AddTargets(const AgentArguments& arguments, std::vector<agent::PushTarget>& targets) {
  for (const std::string& text : arguments.destinations) {
    auto destination = fleet::ParseDestination(text);
    if (!destination.ok()) return Prefixed("--to: ", destination.status());
    const std::string name = destination->Text();
    if (std::ranges::find(targets, name, &agent::PushTarget::name) != targets.end()) continue;
    auto sender = fleet::SenderOfDestination(*destination, arguments.servers);
    if (!sender.ok()) return Prefixed("--to: ", sender.status());
    targets.push_back({.name = name, .sender = *std::move(sender)});
  }
  return absl::OkStatus();
}

// Reads the options of the flight recorder, which records the same events as the segments.
absl::Status ReadMoments(const usage::Command& command, const AgentArguments& arguments,
                         agent::AgentOptions* options) {
  record::RecordOptions moments = options->recording;
  PROFILER_RETURN_IF_ERROR(ReadFlight(command, arguments.flight, &moments));
  if (!moments.flight) {
    if (command.Count("--flight-frequency") == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--flight-frequency needs --flight TIME, the time to keep in memory");
  }
  if (moments.flight->triggers.empty()) {
    return absl::InvalidArgumentError(
        "--flight needs --flight-on TRIGGER, which says when to write a file, such as 'cpu>90%'");
  }
  moments.frequency = arguments.flight_frequency;
  options->most_moments = moments.flight->most_files;
  options->moments = std::move(moments);
  return absl::OkStatus();
}

absl::StatusOr<agent::AgentOptions> ReadOptions(const usage::Command& command,
                                                const AgentArguments& arguments) {
  agent::AgentOptions options;
  PROFILER_ASSIGN_OR_RETURN(options.recording.events,
                            FindEventArguments(command, arguments.events, {kUsualEvent}));
  PROFILER_RETURN_IF_ERROR(Read("--window", ParseDuration(arguments.window), options.window));
  constexpr auto kLeast = std::chrono::seconds(1), kMost = std::chrono::seconds(600);
  if (options.window < kLeast || options.window > kMost) {
    return absl::InvalidArgumentError("--window must be from 1s to 10m");
  }
  PROFILER_ASSIGN_OR_RETURN(options.rates, ReadRates(arguments.frequency));
  options.budget = arguments.cpu_budget / 100;
  options.recording.off_cpu = arguments.off_cpu;
  PROFILER_RETURN_IF_ERROR(ReadMoments(command, arguments, &options));
  PROFILER_RETURN_IF_ERROR(Read("--memory", ParseSize(arguments.memory), options.memory_limit));
  constexpr uint64_t kLeastMemory = uint64_t{32} << 20;
  if (options.memory_limit < kLeastMemory) {
    return absl::InvalidArgumentError("--memory must be at least 32M");
  }
  PROFILER_RETURN_IF_ERROR(
      Read("--spool-size", ParseSize(arguments.spool_size), options.spool_bytes));
  options.spool = arguments.spool.empty() ? UsualSpool() : arguments.spool;
  options.host = arguments.host.empty() ? HostName() : arguments.host;
  if (options.host.empty()) {
    return absl::InvalidArgumentError("this machine has no host name; give a name with --host");
  }
  options.labels = arguments.labels;
  options.labels_file = arguments.labels_file;
  options.version = kVersion;
  options.naming.lines = options.naming.inlines = arguments.inlines;
  options.naming.places.no_sandbox = arguments.no_sandbox;
  options.naming.places.no_cache = true;
  options.naming.fetch.off = true;
  if (arguments.metrics != "none") {
    agent::ListenAddress address;
    PROFILER_RETURN_IF_ERROR(
        Read("--metrics", agent::ParseListenAddress(arguments.metrics), address));
    options.metrics = address;
  }
  PROFILER_RETURN_IF_ERROR(AddTargets(arguments, options.push));
  options.say = [](std::string_view line) { PrintWarning(line); };
  return options;
}

int RunWith(agent::AgentOptions options) {
  if (options.metrics && agent::IsForOthers(*options.metrics)) {
    PrintWarning(absl::StrCat("--metrics: everybody who can reach ", options.metrics->host,
                              " can read them"));
  }
  const std::string spool = options.spool;
  const auto say_where = [](uint16_t port) {
    PrintNote(absl::StrCat("profiler agent: metrics at port ", port, ", /metrics"));
  };
  const absl::Status status =
      agent::RunAgent(ringbuf::LinuxKernel(), std::move(options), say_where);
  if (status.ok()) return kExitOk;
  PrintError(status);
  return kExitFailure;
}

void AddPushOptions(usage::Command& command, AgentArguments& a) {
  command
      .AddOption("--to", a.destinations,
                 "also send each segment to this server; may be given several times: "
                 "clickhouse+http://HOST:8123, otlp+https://HOST:4318, pyroscope+http://HOST:4040")
      .ValueName("URL")
      .OneValueEach();
  AddServerOptions(command, a.servers);
}

void AddMomentOptions(usage::Command& command, AgentArguments& a) {
  AddFlightOptions(command,
                   "flight recorder: also keep the last 30s (or 500ms, 5m) in memory, at a high "
                   "frequency, and write them to SPOOL/moments when --flight-on says so",
                   a.flight);
  command
      .AddOption("--flight-frequency", a.flight_frequency,
                 "with --flight: samples per second on each CPU; --cpu-budget does not bound them")
      .ValueName("HZ")
      .InRange(uint64_t{1}, uint64_t{100'000}, usage::InHelp::kNo)
      .ShowDefault();
}

void AddAgentOptions(usage::Command& command, AgentArguments& a) {
  command.AddOption("SPOOL", a.spool,
                    "directory for segments (default: $STATE_DIRECTORY, or /var/lib/profiler)");
  command
      .AddOption("--spool-size", a.spool_size,
                 "delete the oldest segments when all together exceed this size")
      .ValueName("SIZE")
      .ShowDefault();
  AddEventOptions(command, "event to sample (default: cpu-clock, which every machine has)",
                  &a.events);
  command.AddOption("--window", a.window, "length of a segment, 1s to 10m")
      .ValueName("TIME")
      .ShowDefault();
  command
      .AddOption("-F,--frequency", a.frequency,
                 "samples per second on each CPU; --cpu-budget chooses within this range")
      .ValueName("LEAST-MOST")
      .ShowDefault();
  command.AddOption("--cpu-budget", a.cpu_budget, "percentage of all CPUs that the agent may use")
      .ValueName("PERCENT")
      .InRange(0.01, 100.0)
      .ShowDefault();
  command.AddFlag("--off-cpu", a.off_cpu,
                  "also record how long threads are off the CPU and where they wait, as long as "
                  "--cpu-budget allows it");
  command.AddOption("--memory", a.memory, "resident memory that the agent may use, at least 32M")
      .ValueName("SIZE")
      .ShowDefault();
  AddMomentOptions(command, a);
  command.AddOption("--host", a.host, "name of this machine (default: its host name)")
      .ValueName("NAME");
  command
      .AddOption("--label", a.labels, "label of this machine's samples; may be given several times")
      .ValueName("KEY=VALUE")
      .OneValueEach();
  command
      .AddOption("--labels-file", a.labels_file,
                 "file with one label per line, which SIGHUP reads again; --label overrides it")
      .ValueName("FILE");
  command.AddFlag("--inlines", a.inlines, "also record inlined calls, which costs much more CPU");
  AddSandboxOption(command, a.no_sandbox);
  command
      .AddOption(
          "--metrics", a.metrics,
          "serve metrics for Prometheus at http://ADDRESS/metrics, for example 127.0.0.1:9099")
      .ValueName("ADDRESS:PORT|none")
      .ShowDefault();
}

}  // namespace

void AddAgentCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand(
      "agent", "Record this machine all the time, into small files with names of functions");
  command.SetFooter(
      "SIGTERM writes the current window and ends the agent. docs/fleet.md shows how to run it as "
      "a service.");
  auto arguments = std::make_shared<AgentArguments>();
  AddAgentOptions(command, *arguments);
  AddPushOptions(command, *arguments);
  commands[&command] = [arguments, &command] {
    auto options = ReadOptions(command, *arguments);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    return RunWith(*std::move(options));
  };
}

}  // namespace profiler::cli

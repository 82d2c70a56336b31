// Writes the segments of a simulated fleet; see simulate --help.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "src/base/own_directory.h"
#include "src/base/status.h"
#include "src/base/uninterrupted.h"
#include "src/base/unique_fd.h"
#include "src/cli/usage/command_line.h"
#include "src/fleet/segments/segment.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/fleet/segments/selection.h"
#include "tests/fleet/simulated_fleet.h"

namespace profiler::fleet {
namespace {

struct Arguments {
  std::string directory;
  FleetOptions fleet;
  uint32_t minutes = 60;
  std::string begin;
  std::vector<std::string> labels;
  std::string slow;
  bool functions = false;
};

absl::Status ReadSlow(const std::string& text, FleetOptions& options) {
  const size_t equals = text.rfind('='), comma = text.rfind(',');
  if (equals == std::string::npos || comma == std::string::npos || comma < equals ||
      !absl::SimpleAtod(text.substr(equals + 1, comma - equals - 1), &options.slow_points) ||
      !absl::SimpleAtod(text.substr(comma + 1), &options.slow_hosts)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not FUNCTION=POINTS,SHARE, as in web::parse_row_7=3,0.33"));
  }
  options.slow_function = text.substr(0, equals);
  return absl::OkStatus();
}

absl::Status ReadArguments(Arguments& arguments) {
  const UnixTime now = absl::ToUnixNanos(absl::Now());
  if (arguments.begin.empty()) arguments.begin = absl::StrCat(arguments.minutes, "m");
  PROFILER_ASSIGN_OR_RETURN(arguments.fleet.begin, ParseTime(arguments.begin, now));
  for (const std::string& label : arguments.labels) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("'", label, "' is not KEY=VALUE"));
    }
    arguments.fleet.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  if (arguments.slow.empty()) return absl::OkStatus();
  return ReadSlow(arguments.slow, arguments.fleet);
}

// Writes without fsync and without a check for space, because the files are made only once.
absl::Status WriteSegment(int directory, const Window& window) {
  const std::string name = SegmentName(window.host, window.begin);
  const std::string bytes = EncodeSegment(window);
  const UniqueFd fd(
      openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return WriteError(errno, name);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote =
        Uninterrupted([&] { return write(fd.get(), bytes.data() + done, bytes.size() - done); });
    if (wrote < 0) return WriteError(errno, name);
    done += static_cast<size_t>(wrote);
  }
  return absl::OkStatus();
}

struct Totals {
  std::atomic<uint64_t> segments = 0, rows = 0, samples = 0;
};

absl::Status WriteHost(const SimulatedFleet& fleet, uint32_t host, uint64_t windows, int directory,
                       Totals& totals) {
  for (uint64_t i = 0; i < windows; ++i) {
    const Window window = fleet.WindowOf(host, i);
    PROFILER_RETURN_IF_ERROR(WriteSegment(directory, window));
    ++totals.segments;
    totals.rows += window.rows.size();
    for (const Row& row : window.rows) totals.samples += row.samples;
  }
  return absl::OkStatus();
}

absl::Status WriteFleet(const Arguments& arguments, Totals& totals) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd directory,
                            OpenOwnDirectory(arguments.directory, IfMissing::kMake));
  const SimulatedFleet fleet(arguments.fleet);
  if (!arguments.slow.empty() && !fleet.HasSlowFunction()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no function is called ", arguments.fleet.slow_function, "; --functions lists some"));
  }
  const uint64_t windows = arguments.minutes * uint64_t{60} / arguments.fleet.window_seconds;
  std::atomic<uint32_t> next = 0;
  std::vector<absl::Status> ends(std::max(1U, std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> threads;
    for (absl::Status& end : ends) {
      threads.emplace_back([&] {
        for (uint32_t host = next++; host < arguments.fleet.hosts && end.ok(); host = next++) {
          end = WriteHost(fleet, host, windows, directory.get(), totals);
        }
      });
    }
  }
  for (const absl::Status& end : ends) PROFILER_RETURN_IF_ERROR(end);
  return absl::OkStatus();
}

void PrintFunctions(const FleetOptions& options) {
  for (const FunctionShare& function : SimulatedFleet(options).HeaviestFunctions(10)) {
    std::printf("%-8s %6.2f%%  %s\n", function.service.c_str(), 100 * function.share,
                function.function.c_str());
  }
}

int Run(std::vector<std::string> words) {
  Arguments arguments;
  FleetOptions& fleet = arguments.fleet;
  usage::Command program("simulate", "Write the segments of a fleet that does not exist");
  program.AddOption("DIR", arguments.directory, "directory that the segments are added to");
  program.AddOption("--hosts", fleet.hosts, "machines").Positive().ShowDefault();
  program.AddOption("--minutes", arguments.minutes, "time that they run").Positive().ShowDefault();
  program.AddOption("--window", fleet.window_seconds, "seconds of a segment")
      .Positive()
      .ShowDefault();
  program.AddOption("--cpus", fleet.cpus, "of each machine, all busy").Positive().ShowDefault();
  program.AddOption("--frequency", fleet.frequency, "samples a second and CPU")
      .Positive()
      .ShowDefault();
  program.AddOption("--services", fleet.services, "of the fleet; a machine has two")
      .Positive()
      .ShowDefault();
  program.AddOption("--stacks", fleet.stacks_of_service, "distinct ones of a service")
      .Positive()
      .ShowDefault();
  program.AddOption("--seed", fleet.seed, "another one is another fleet").ShowDefault();
  program.AddOption("--begin", arguments.begin, "when they begin (default: so that they end now)")
      .ValueName("TIME");
  program.AddOption("--host-prefix", fleet.first_host, "in front of each host's name");
  program.AddOption("--label", arguments.labels, "KEY=VALUE, of every host; may be repeated")
      .ValueName("KEY=VALUE")
      .OneValueEach();
  program
      .AddOption("--slow", arguments.slow,
                 "the function has so many percent of its service's time more, on so many of "
                 "the hosts, as in web::parse_row_7=3,0.33")
      .ValueName("FUNCTION=POINTS,SHARE");
  program.AddFlag("--functions", arguments.functions,
                  "write nothing; list the heaviest functions of each service");
  const usage::Parsed parsed = program.Parse(std::move(words));
  if (parsed.kind != usage::Parsed::Kind::kCommand) {
    std::fputs(parsed.text.c_str(), stderr);
    return parsed.kind == usage::Parsed::Kind::kAnswer ? 0 : 2;
  }
  absl::Status status = ReadArguments(arguments);
  if (status.ok() && arguments.functions) {
    PrintFunctions(fleet);
    return 0;
  }
  if (status.ok() && arguments.directory.empty()) {
    status = absl::InvalidArgumentError("name the directory to write to");
  }
  Totals totals;
  if (status.ok()) status = WriteFleet(arguments, totals);
  if (!status.ok()) {
    std::fprintf(stderr, "simulate: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  std::printf("%llu segments, %llu rows, %llu samples\n",
              static_cast<unsigned long long>(totals.segments.load()),
              static_cast<unsigned long long>(totals.rows.load()),
              static_cast<unsigned long long>(totals.samples.load()));
  return 0;
}

}  // namespace
}  // namespace profiler::fleet

int main(int argc, char** argv) { return profiler::fleet::Run({argv + 1, argv + argc}); }

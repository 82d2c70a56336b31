#include "src/cli/recording/flight_arguments.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/option_values.h"

namespace profiler::cli {
namespace {

constexpr const char* kCompanions[] = {"--flight-size", "--flight-after", "--flight-files"};

absl::Status Refused(std::string_view option, std::string_view with, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(option), " cannot be used with ",
                                                 std::string(with), ", ", std::string(why)));
}

// Parses a time, or returns the error in the name of the option.
absl::StatusOr<std::chrono::milliseconds> ReadTime(std::string_view option,
                                                   const std::string& text) {
  auto time = ParseDuration(text);
  if (time.ok()) return time;
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(option), ": '", text, "' is not a time; give 500ms, 10s, 5m or 1h"));
}

// perf's --overwrite keeps what fits into memory. Files are written at SIGUSR2 with
// --switch-output, and at the end.
absl::Status ReadOverwrite(record::FlightOptions* flight, record::RecordOptions* options) {
  flight->writes_end = true;
  if (!options->switch_output) return absl::OkStatus();
  if (!options->switch_output->at_signal) {
    return Refused("--overwrite", "a size or a time of --switch-output",
                   "because it writes files at SIGUSR2; pass --switch-output=signal");
  }
  if (flight->most_files == 0) flight->most_files = options->switch_output->most_files;
  options->switch_output.reset();
  return absl::OkStatus();
}

}  // namespace

void AddFlightOptions(usage::Command& command, FlightArguments& a) {
  command
      .AddOption("--flight", a.time,
                 "flight recorder: keep the last 30s (or 500ms, 5m) in memory, and write them to "
                 "FILE.YYYYMMDDhhmmssNN at SIGUSR2 and at `snapshot` on --control")
      .ValueName("TIME");
  command
      .AddOption("--flight-size", a.size,
                 "with --flight: memory for records; if they need more, the oldest leave earlier")
      .ValueName("SIZE")
      .ShowDefault();
  command
      .AddOption("--flight-after", a.after,
                 "with --flight: record for this time after the moment, before it is written")
      .ValueName("TIME");
  command.AddOption("--flight-files", a.most_files, "with --flight: keep only the latest N files")
      .ValueName("N")
      .InRange(size_t{1}, size_t{1'000'000}, usage::InHelp::kNo);
  command.AddFlag("--overwrite", a.overwrite,
                  "keep what fits into memory, as with --flight, and write it at the end, too");
}

absl::Status ReadFlight(const usage::Command& command, const FlightArguments& arguments,
                        record::RecordOptions* options) {
  if (!arguments.is_given()) {
    for (const char* const name : kCompanions) {
      if (command.Count(name) == 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, " needs --flight TIME, the time to keep in memory"));
    }
    return absl::OkStatus();
  }
  const std::string_view option = arguments.time.empty() ? "--overwrite" : "--flight";
  record::FlightOptions flight{.most_files = arguments.most_files};
  if (!arguments.time.empty()) {
    PROFILER_ASSIGN_OR_RETURN(flight.before, ReadTime("--flight", arguments.time));
  }
  if (!arguments.after.empty()) {
    PROFILER_ASSIGN_OR_RETURN(flight.after, ReadTime("--flight-after", arguments.after));
  }
  const auto bytes = ParseSize(arguments.size);
  if (!bytes.ok() || *bytes < record::FlightOptions::kLeastBytes) {
    return absl::InvalidArgumentError(absl::StrCat("--flight-size: '", arguments.size,
                                                   "': give a size of at least 1M, such as 64M"));
  }
  flight.bytes = *bytes;
  if (arguments.overwrite) PROFILER_RETURN_IF_ERROR(ReadOverwrite(&flight, options));
  if (options->switch_output) {
    return Refused(option, "--switch-output",
                   "because it writes only the last records; pass one of the two");
  }
  if (options->timestamp_filename) {
    return Refused(option, "--timestamp-filename", "because its files have their time anyway");
  }
  if (options->max_bytes != 0) {
    return Refused(option, "--max-size", "because --flight-size bounds each file");
  }
  options->flight = flight;
  return absl::OkStatus();
}

}  // namespace profiler::cli

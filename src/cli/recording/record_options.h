// The options of `record`, and their conversion to options of the recorder.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/command.h"
#include "src/cli/perf_options.h"
#include "src/cli/recording/compression_option.h"
#include "src/cli/recording/enabled_times.h"
#include "src/cli/recording/event_arguments.h"
#include "src/cli/recording/flight_arguments.h"
#include "src/cli/recording/target_arguments.h"
#include "src/cli/usage/command_line.h"
#include "src/record/options.h"

namespace profiler::cli {

// The values as typed.
struct RecordArguments {
  std::string frequency;
  uint64_t period = 0;
  CompressionOption compression;
  EventArguments events;
  TargetArguments targets;
  std::string output = "perf.data";
  std::string embed = "lines";
  bool no_cache = false;
  bool no_sandbox = false;
  bool call_chains = false;
  std::string call_graph;
  bool post_unwind = false;
  std::string ring_size;
  std::optional<int> realtime;
  std::string delay;  // milliseconds, or times: "10-20,30-40"
  std::string control;
  std::optional<double> duration;  // seconds
  bool no_inherit = false;
  bool no_samples = false;
  bool strict_frequency = false;
  bool user_chains = false, kernel_chains = false;  // both false: chains have both parts
  bool namespaces = false;
  bool data_mappings = false;
  bool no_buffering = false;
  bool dry_run = false;
  std::string vmlinux;
  record::SampleContents contents;
  std::string user_registers, interrupt_registers;
  bool branch_any = false;
  std::optional<std::string> branch_filter;
  bool all_user = false, all_kernel = false;
  bool switch_events = false;
  bool off_cpu = false;
  double off_cpu_threshold_ms = 0;
  bool wall_clock = false;
  bool latency = false;
  bool no_bpf_events = false;
  bool no_interpreters = false;
  bool runtime_maps = false;
  std::string clock = "CLOCK_MONOTONIC";
  std::string max_size;
  std::string switch_output;
  size_t most_files = 0;
  bool timestamp_filename = false;
  FlightArguments flight;
  std::vector<IgnoredOption> needless;
  std::optional<uint32_t> repeat;
  bool summary = false, no_summary = false;  // both false: summary on a terminal
  bool quiet = false;
  int verbosity = 0;  // number of -v
};

// Adds all options; `arguments` must live as long as the command.
void AddRecordOptions(usage::Command& command, RecordArguments& arguments);

// Groups of these options, for other commands that record; `arguments` must live as long as the
// command. -F and -c; -e and what belongs to it; -g and --call-graph; -m and -r; --off-cpu,
// --off-cpu-thresh and --wall-clock; --duration and -i.
void AddRateOptions(usage::Command& command, RecordArguments& arguments);
void AddSampledEventOptions(usage::Command& command, RecordArguments& arguments);
void AddChainOptions(usage::Command& command, RecordArguments& arguments);
void AddRingOptions(usage::Command& command, RecordArguments& arguments);
void AddOffCpuOptions(usage::Command& command, RecordArguments& arguments);
void AddLengthOptions(usage::Command& command, RecordArguments& arguments);

// Returns the list of registers if an option for registers has the value "?"; otherwise nothing.
std::optional<std::string> ListOfRegisters(const RecordArguments& arguments);

// Returns the times of -D in which samples are taken; empty: -D has none. Returns kInvalidArgument
// for malformed times, and if other options do not go with them.
absl::StatusOr<std::vector<EnabledTime>> ReadEnabledTimes(const RecordArguments& arguments);

// Converts the values. Returns kInvalidArgument for an invalid value. Other errors: those of
// CommandOf, ReadTargets and FindEventArguments. Each error is one line for the user.
absl::StatusOr<record::RecordOptions> ReadRecordOptions(const usage::Command& subcommand,
                                                        const RecordArguments& arguments,
                                                        const Invocation& invocation);

}  // namespace profiler::cli

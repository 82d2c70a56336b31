// The options of `record`, and what they ask for.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/command.h"
#include "src/cli/compression_option.h"
#include "src/cli/event_arguments.h"
#include "src/cli/target_arguments.h"
#include "src/record/options.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

// One that perf's users give, and that asks for nothing here.
struct NeedlessOption {
  usage::Option option;
  const char* why = nullptr;
};

// As they were typed.
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
  double delay_ms = 0;
  std::string control;
  std::optional<double> duration;  // seconds
  bool no_inherit = false;
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
  std::string clock = "CLOCK_MONOTONIC";
  std::string max_size;
  std::string switch_output;
  size_t most_files = 0;
  bool timestamp_filename = false;
  std::vector<NeedlessOption> needless;
  std::optional<uint32_t> repeat;
  bool summary = false, no_summary = false;  // neither: where a person looks on
  bool quiet = false;
  int verbosity = 0;  // how often -v was given
};

// Adds all of them; `arguments` must live as long as the command.
void AddRecordOptions(usage::Command& command, RecordArguments& arguments);

// What there is to choose from, where "?" was given for registers; else nothing.
std::optional<std::string> ListOfRegisters(const RecordArguments& arguments);

// Errors, each a line for the user: kInvalidArgument for a value that cannot be, those of
// CommandOf, ReadTargets and FindEventArguments.
absl::StatusOr<record::RecordOptions> ReadRecordOptions(const usage::Command& subcommand,
                                                        const RecordArguments& arguments,
                                                        const Invocation& invocation);

}  // namespace profiler::cli

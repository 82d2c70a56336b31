// The options of `top`, and their conversion to options of the live recording and of its views.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "src/base/status.h"
#include "src/cli/command.h"
#include "src/cli/recording/record_options.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/views/report_arguments.h"
#include "src/live/history.h"
#include "src/live/live_recording.h"

namespace profiler::cli {

// The values as typed.
struct TopArguments {
  RecordArguments record;
  ReportArguments report;
  double delay = 2;  // seconds
  std::string last = "10s";
  bool zero = false;
  uint32_t entries = 0;
  bool hide_kernel = false, hide_user = false;
  bool show_idle = false;
  bool cgroups = false;
  bool stdio = false;
  uint64_t iterations = 0;
  std::string write;  // file for what was shown; empty: none
};

// Adds all options; `arguments` must live as long as the command.
void AddTopOptions(usage::Command& command, TopArguments& arguments);

struct TopPlan {
  live::LiveOptions live;
  ReportPlan report;
  std::chrono::milliseconds delay{0};
  live::Range range;
  live::Decay decay{0};
  // True if only the samples since the last refresh are shown at first, instead of `range`.
  bool since_refresh = false;
  // True if no target was given, so that the whole machine is recorded.
  bool is_default_target = false;
};

// Converts the values. Returns kInvalidArgument for an invalid value. Other errors: those of
// ReadRecordOptions. Each error is one line for the user.
absl::StatusOr<TopPlan> ReadTopPlan(const usage::Command& command, TopArguments arguments,
                                    const Invocation& invocation);

// A choice of samples to show.
struct Shown {
  live::Range range;
  bool decays = false;  // True: older samples count less.
};

// Parses "2s", "10s", "1m", "all" or "decay".
absl::StatusOr<Shown> ParseShown(const std::string& text);

// Returns the choice in words: "the last 10 s", "all", "the last 60 s, decaying".
std::string ShownInWords(const live::Range& range, live::Decay decay);

}  // namespace profiler::cli

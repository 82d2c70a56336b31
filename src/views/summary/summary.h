// Summarizes a recording in about thirty lines, for readers of a first profile: where the time
// goes, the accuracy, missing data, and commands for more detail.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/estimate/share.h"
#include "src/analysis/unnamed_python.h"
#include "src/profile/profile.h"
#include "src/views/json/recording_facts.h"

namespace profiler::summary {

// A share of the event from 0 to 1, with its 95 % confidence interval.
struct Share {
  double part = 0;
  estimate::Interval interval;
  double amount = 0;  // in the event's unit
};

struct FunctionShare {
  std::string name;
  std::string image;   // base name
  std::string source;  // heaviest line, "parse.c:120"; empty if unknown
  // Name of the function whose compiled code contains this function: its own name, or the name of
  // the caller that it is inlined into. Empty if unknown.
  std::string compiled_into;
  Share share;
  // Number of samples needed to rank it before the next function; 0 if the rank is already certain.
  uint64_t samples_to_tell = 0;
};

struct PathStep {
  std::string function;
  std::string source;  // line of the call; in the last step, line of the function
  double part = 0;
};

struct ThreadShare {
  std::string name;
  uint32_t threads = 0;  // number of threads with this name and samples
  double part = 0;
};

struct ImageShare {
  std::string name;
  double part = 0;
};

struct Summary {
  std::string event;
  uint64_t samples = 0;
  double amount = 0;
  bool is_count = false;  // see analysis::Measurement::is_count
  // Number of context switches that the times come from, and number of switches whose stack was
  // sampled or read. Both are 0 if nothing is estimated.
  uint64_t switches = 0, sampled_switches = 0;
  // Share of the samples that is missing. All shares are corrected for missing samples
  // (analysis::MissingPeriods); amounts contain only recorded samples.
  double missing_part = 0;

  std::vector<FunctionShare> functions;  // sorted by own weight, the heaviest first
  size_t others = 0;                     // number of functions not in the list …
  double others_part = 0;                // … and their share
  double others_amount = 0;

  // The path from the outermost function to its heaviest callee, and so on, while a callee has at
  // least half of its caller's weight.
  std::vector<PathStep> path;

  double user = 0, kernel = 0, idle = 0, elsewhere = 0;
  std::vector<ThreadShare> threads;
  size_t other_threads = 0;  // number of thread names not in the list

  profile::Losses losses;
  ChainQuality chains;
  // Share of the weight with whole call chains; absent if the recording does not mark cut chains.
  std::optional<double> whole_chains;
  bool has_chains = false;
  double named = 0;                        // share of the weight whose function has a name
  std::optional<ImageShare> most_unnamed;  // image with most of the unnamed weight
  std::optional<analysis::UnnamedPython> python;
};

// Summarizes an event. The profile must keep the order of its samples and distinguish threads.
Summary Summarize(const profile::Profile& profile, profile::EventId event);

// Formats a summary as JSON (docs/json.md).
std::string SummaryAsJson(const Summary& summary, const json::RecordingFacts& recording);

// Formats a summary as lines of at most 100 columns, except for long names.
std::string FormatSummary(const Summary& summary, const json::RecordingFacts& recording);

}  // namespace profiler::summary

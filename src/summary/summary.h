// What a recording says in thirty lines, for whoever reads a profile for the first time: where the
// time goes, how sure that is, what is missing, and what to look at next.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/estimate/share.h"
#include "src/json/recording.h"
#include "src/profile/profile.h"
#include "src/query/unnamed_python.h"

namespace profiler::summary {

// A share of the event from 0 to 1, with its 95 % interval.
struct Share {
  double part = 0;
  estimate::Interval interval;
  double amount = 0;  // in the event's unit
};

struct FunctionShare {
  std::string name;
  std::string image;   // of which it is, by its base name
  std::string source;  // "parse.c:120", its heaviest line; empty: unknown
  // The function that its code is part of: itself, unless it was inlined; empty: unknown.
  std::string compiled_into;
  Share share;
  // How many samples it would take until it is sure that it has more than the next; 0: it is.
  uint64_t samples_to_tell = 0;
};

struct PathStep {
  std::string function;
  std::string source;  // of the call, or in the last step of what is there
  double part = 0;
};

struct ThreadShare {
  std::string name;
  uint32_t threads = 0;  // of that name that have samples
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
  bool is_count = false;  // query::Measurement::is_count
  // Context switches that the times are of, and how many of them had their stack sampled or read;
  // zeroes if there is nothing to estimate.
  uint64_t switches = 0, sampled_switches = 0;
  // The part of the samples that is missing. All shares make up for it (query::MissingPeriods), and
  // all amounts are of what is there.
  double missing_part = 0;

  std::vector<FunctionShare> functions;  // by what they have themselves; the heaviest first
  size_t others = 0;                     // functions that are not among them …
  double others_part = 0;                // … and what they have
  double others_amount = 0;

  // From the outermost function down the heaviest callee, as long as it has most of its caller's
  // samples.
  std::vector<PathStep> path;

  double user = 0, kernel = 0, idle = 0, elsewhere = 0;
  std::vector<ThreadShare> threads;
  size_t other_threads = 0;  // names that are not among them

  profile::Losses losses;
  ChainQuality chains;
  // The part of the weight whose chains are whole; absent if the recording does not say.
  std::optional<double> whole_chains;
  bool has_chains = false;
  double named = 0;                        // the part whose function has a name
  std::optional<ImageShare> most_unnamed;  // the image with most of the rest
  std::optional<query::UnnamedPython> python;
};

// The profile has the order of its samples and tells threads apart.
Summary Summarize(const profile::Profile& profile, profile::EventId event);

// docs/json.md
std::string SummaryAsJson(const Summary& summary, const json::RecordingFacts& recording);

// As lines of at most 100 columns, but for long names.
std::string FormatSummary(const Summary& summary, const json::RecordingFacts& recording);

}  // namespace profiler::summary

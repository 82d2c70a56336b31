// Summarizes a recording on one screen, for readers of a first profile: where the time goes, the
// accuracy, missing data, and commands for more detail.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/estimate/share.h"
#include "src/analysis/unnamed_python.h"
#include "src/profile/profile.h"
#include "src/views/json/recording_facts.h"
#include "src/views/summary/waits.h"

namespace profiler::summary {

// A share of the event from 0 to 1, with its 95 % confidence interval.
struct Share {
  double part = 0;
  estimate::Interval interval;
  double amount = 0;  // in the event's unit
};

struct FunctionShare {
  std::string name;
  std::string image;  // base name
  // Line with most weight, "parse.c:120"; empty if unknown. In `own`, with the weight of its calls.
  std::string source;
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
  bool is_own = false;  // True for a function of the user's own code that has a name.
};

struct ThreadShare {
  std::string name;
  uint32_t threads = 0;  // number of threads with this name and samples
  double part = 0;
};

struct ImageShare {
  std::string name;
  double part = 0;
  // Path and build-id of the image's file. Empty unless the file is the recorded one but has too few
  // symbols.
  std::string path;
  std::vector<std::byte> build_id;
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

  // Functions of the user's own code (own_code.h) by the weight of themselves and their callees,
  // the heaviest first. Functions that only start programs are left out.
  std::vector<FunctionShare> own;
  // Functions by their own weight, the heaviest first, without states of waiting threads.
  std::vector<FunctionShare> leaves;
  size_t all_leaves = 0;   // number of these functions, including those not in the list …
  double leaves_part = 0;  // … and their share
  double leaves_amount = 0;
  // The whole busiest path of the samples with user code, or of all samples if none has any.
  std::vector<PathStep> whole_path;
  Waits waits;

  // The next members are for JSON.
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

// Summarizes an event, with at most `functions` functions in each list for the text. The profile
// must keep the order of its samples and distinguish threads.
Summary Summarize(const profile::Profile& profile, profile::EventId event, size_t functions = 10);

// Formats a summary as JSON (docs/json.md).
std::string SummaryAsJson(const Summary& summary, const json::RecordingFacts& recording);

// Quotes a text as one word of a shell command line.
std::string ShellWord(std::string_view text);

// The room for the text, and the options that its commands repeat.
struct Layout {
  size_t columns = 80;
  size_t lines = 24;     // lines of the terminal; the text leaves two of them free
  size_t functions = 0;  // number of functions in each list; 0: as many as fit
  std::string options;   // options of the shell's command line: "--comm nginx"
  // How to get names for Summary::most_unnamed, a phrase that begins with a verb; empty: unknown.
  std::string symbols_remedy;
};

// Formats a summary as lines that fit the layout. If functions are asked for by number, the text
// may have more lines.
std::string FormatSummary(const Summary& summary, const json::RecordingFacts& recording,
                          const Layout& layout = {});

}  // namespace profiler::summary

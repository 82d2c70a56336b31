// The tables of `top`: their heading, and a table as text or as JSON.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/cli/live/top_options.h"
#include "src/live/history.h"
#include "src/live/running_sum.h"
#include "src/profile/profile.h"

namespace profiler::cli {

// Facts about a live recording that stand above each table.
struct TopFacts {
  std::string rate;     // "999 Hz", "every 1000 events"
  std::string targets;  // "all 2 CPUs", "process 17"
};
TopFacts FactsOf(const TopPlan& plan);

// Samples that are prepared for a view.
struct TopView {
  std::shared_ptr<const profile::Profile> profile;
  live::LeftOut left_out;
  std::chrono::nanoseconds length{0};
  double shortened = 0;
  std::string nothing;  // why the filters leave no sample; empty: some are left
};

// Takes the steps of the plan, and leaves out kernel or user code if wanted.
profile::Profile PrepareTop(profile::Profile profile, const TopPlan& plan, bool hide_kernel,
                            bool hide_user);

// Returns how the sum of the plan's time is kept: which steps each of its windows takes.
live::RunningOptions RunningOptionsOf(const TopPlan& plan, bool hide_kernel, bool hide_user);

// Returns the view of a sum that was just refreshed.
TopView ViewOf(const live::RunningSum& sum, const TopPlan& plan);

// Returns parts of a line about all that the table does not contain: "12.30 % idle CPUs", and the
// part of cut call chains.
std::vector<std::string> RemarksOf(const TopView& view);

// Returns lines, each with "# " in front, about time, samples and losses, and the remarks:
//
//   # 13:45:02, the last 10 s: 1998 samples in 10.0 s at 999 Hz, all 2 CPUs; lost 0
//   # 37.20 % of the samples, on idle CPUs, are hidden
std::string TopHeading(const TopView& view, const TopPlan& plan, const TopFacts& facts,
                       std::chrono::system_clock::time_point now);

// Returns the heading and the tables of all events.
std::string TopTable(const TopView& view, const TopPlan& plan, const TopFacts& facts,
                     std::chrono::system_clock::time_point now);

// Returns one line: a document of the view `top` (docs/json.md).
std::string TopDocument(const TopView& view, const TopPlan& plan,
                        std::chrono::system_clock::time_point now);

}  // namespace profiler::cli

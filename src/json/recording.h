// What documents of recordings have in common.
//
// Pure functions; thread-safe.

#pragma once

#include <string>

#include "src/base/chain_quality.h"
#include "src/estimate/share.h"
#include "src/json/document.h"
#include "src/profile/profile.h"

namespace profiler::json {

// A recording as its document names it.
struct RecordingFacts {
  std::string path;
  std::string command;  // that was recorded; empty: unknown
  double seconds = 0;   // from the first sample to the last; 0: unknown
};
Value Recording(const RecordingFacts& facts);

// {"share": 0.25, "low": 0.24, "high": 0.26, "amount": 1250000000}. Without an interval no chance
// is in the share, or none is known.
Value Share(double share, double amount);
Value Share(double share, const estimate::Interval& interval, double amount);

// What is missing, as counts, and warnings in words.
Value Losses(const profile::Losses& losses);
// How many call chains that were unwound are whole, and how many that the kernel made are broken.
Value Chains(const ChainQuality& chains);
// Adds the weight of each event's chains if the recording marks cut chains.
Value Chains(const profile::Profile& profile);

}  // namespace profiler::json

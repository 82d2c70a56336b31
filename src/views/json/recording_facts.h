// The common parts of JSON documents about recordings.
//
// The functions are pure and thread-safe.

#pragma once

#include <string>

#include "src/analysis/estimate/share.h"
#include "src/profile/profile.h"
#include "src/views/json/document.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::json {

// The facts by which a document identifies its recording.
struct RecordingFacts {
  std::string path;
  std::string command;  // recorded command; empty: unknown
  double seconds = 0;   // from the first sample to the last; 0: unknown
};
Value Recording(const RecordingFacts& facts);

// Return a share: {"share": 0.25, "low": 0.24, "high": 0.26, "amount": 1250000000}. A share without
// an interval is exact, or its error is unknown.
Value Share(double share, double amount);
Value Share(double share, const estimate::Interval& interval, double amount);

// Returns the losses as counts, and the warnings as texts.
Value Losses(const profile::Losses& losses);
// Returns the numbers of complete unwound chains, and of broken chains from the kernel.
Value Chains(const ChainQuality& chains);
// Returns the numbers of complete and broken chains. If the recording marks cut chains, also
// returns the weights of each event's whole chains and cut chains.
Value Chains(const profile::Profile& profile);

}  // namespace profiler::json

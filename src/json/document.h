// Views as JSON, for programs. One document a view; each says first what it is:
//
//   {"format": "profiler", "version": 1, "view": "diff", …}
//
// docs/json.md says what follows, docs/json.schema.json says so to programs. What is added later
// leaves the version as it is; whatever makes a reader of today read something else changes it.
//
// Pure functions; thread-safe.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/base/chain_quality.h"
#include "src/estimate/share.h"
#include "src/profile/profile.h"

namespace profiler::json {

using Value = nlohmann::ordered_json;

// The beginning of a view's document.
Value Document(std::string_view view);

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

// With a line break behind it; `Line` has no other. Names are any bytes: those that are no UTF-8
// become U+FFFD.
std::string Text(const Value& document);
std::string Line(const Value& document);

}  // namespace profiler::json

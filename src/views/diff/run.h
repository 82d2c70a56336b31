// A recording that is compared with others, and a function that matches the keys of several
// recordings by name.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/estimate/run_variance.h"
#include "src/analysis/keyed_rows.h"
#include "src/analysis/measure.h"

namespace profiler::diff {

// The measurements of one event in one recording.
struct Run {
  std::string name;  // name of the file
  std::string event;
  // Words of the recorded command; empty: unknown, or running processes were recorded.
  std::vector<std::string> command = {};
  std::vector<std::string> names;  // [k]: key k, a function, line or path
  analysis::Measurement measured;
};

// The samples that count for a key: only its own samples, or also the samples of its callees.
enum class Weight : uint8_t { kSelf, kTotal };

// Fewest samples of a row, in all runs together. Rows with fewer samples are not compared: they
// cannot show a change, and each further row makes the test of the other rows stricter.
inline constexpr uint64_t kFewestSamples = 10;

// A key's name, and its id in each run.
struct MatchedKey {
  std::string_view name;                // points into a run
  std::vector<analysis::KeyId> of_run;  // [r]: id in run r, or kNoKey
};

// Matches keys by name. Linear in the keys.
std::vector<MatchedKey> MatchKeys(std::span<const Run* const> runs);

// Return a key's share of its run, and its amount in the event's unit. Both are 0 for
// analysis::kNoKey.
estimate::RunShare ShareOf(const Run& run, analysis::KeyId key, Weight weight);
double AmountOf(const Run& run, analysis::KeyId key, Weight weight);

}  // namespace profiler::diff

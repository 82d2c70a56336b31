// One recording among others: what it measured, and which of its keys are those of other
// recordings.
//
// Pure functions; thread-safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/estimate/run_variance.h"
#include "src/query/keyed_rows.h"
#include "src/query/measure.h"

namespace profiler::diff {

// One recording's event.
struct Run {
  std::string name;  // the file's
  std::string event;
  std::vector<std::string> names;  // by key: of a function, a line or a path
  query::Measurement measured;
};

// What counts for a key: its own samples, or also those of all that it called.
enum class Weight : uint8_t { kSelf, kTotal };

// In all runs together: with fewer nothing can be told, and trying makes it harder to tell it of
// others.
inline constexpr uint64_t kFewestSamples = 10;

// A key by name, and what each run calls it.
struct MatchedKey {
  std::string_view name;             // belongs to a run
  std::vector<query::KeyId> of_run;  // query::kNoKey where it does not occur
};

// Linear in the keys.
std::vector<MatchedKey> MatchKeys(std::span<const Run* const> runs);

// What the run has of a key, nothing of query::kNoKey. The share refers to the run; the amount is
// in the event's unit.
estimate::RunShare ShareOf(const Run& run, query::KeyId key, Weight weight);
double AmountOf(const Run& run, query::KeyId key, Weight weight);

}  // namespace profiler::diff

// Decodes and encodes the feature sections that only this program writes. FORMAT.md draws them.
//
// Each Read function decodes the section of its feature from `features`. It returns nullopt if the
// section is missing, truncated or invalid. Thread-safe.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_data {

// True if the user callers in this event's call chains are exact: each is the address of the call
// instruction, not of the one after it. Our recorder marks the events whose user stacks it unwinds
// itself (FORMAT.md).
bool HasExactUserCallers(const perf_event::Attr& attr);

// CHAIN_QUALITY: how the recorder unwound the user call chains and where they ended. Lines of text
// (FORMAT.md).
std::optional<ChainQuality> ReadChainQuality(const Features& features);
void SetChainQuality(const ChainQuality& chains, Features* features);

// IMPORTED: the recording was converted from a profile of another program.
struct ImportedFrom {
  std::string file;    // file name at the time of the import
  std::string format;  // words for a person
  bool operator==(const ImportedFrom&) const = default;
};
std::optional<ImportedFrom> ReadImported(const Features& features);
void SetImported(const ImportedFrom& from, Features* features);

// RECORDER: how the recorder itself ran, unless it ran as an ordinary program, and its estimates.
struct RecorderFacts {
  std::string priority;  // "nice -20", "SCHED_FIFO 10"; empty for an ordinary program
  // Off-CPU times of an event that come from a sample of all context switches. All switches were
  // counted; some were sampled and stand for the others.
  struct Estimate {
    // The event whose samples are these times.
    std::string event;
    uint64_t switches = 0, sampled = 0;
    // Nanoseconds of switches without a stack of their own, which samples with a stack include.
    uint64_t time = 0;
    // Number of equal samples with the same statistical uncertainty: (Σw)²/Σw² of these times.
    double placeholders = 0;
    bool operator==(const Estimate&) const = default;
  };
  std::vector<Estimate> estimates;
  // Bytes of stack per sample, if the chains were unwound during the recording. 0: none, or
  // unknown.
  uint64_t copied_stack = 0;
  bool operator==(const RecorderFacts&) const = default;
};
std::optional<RecorderFacts> ReadRecorder(const Features& features);
void SetRecorder(const RecorderFacts& recorder, Features* features);

// Returns the bytes of a section: NAMES and CODE, which symbolize/names/names_codec.h decodes, or
// SUMS, which src/profile/profile_codec.h decodes. Empty if the recording has none. They live as
// long as `features`.
std::string_view OwnSection(const Features& features, int bit);

}  // namespace profiler::perf_data

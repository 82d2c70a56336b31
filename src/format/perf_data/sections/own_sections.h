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

#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/attr.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::perf_data {

// True if the user callers in this event's call chains are exact: each is the address of the call
// instruction, not of the one after it. Our recorder marks the events whose user stacks it unwinds
// itself (FORMAT.md).
bool HasExactUserCallers(const perf_event::Attr& attr);

// CHAIN_QUALITY: how the recorder unwound the user call chains, and where these ended. FORMAT.md
// describes its lines of text.
std::optional<ChainQuality> ReadChainQuality(const Features& features);
void SetChainQuality(const ChainQuality& chains, Features* features);

// IMPORTED: the recording was converted from a profile of another program.
struct ImportedFrom {
  std::string file;    // file name at the time of the import
  std::string format;  // name of its format, for a person
  bool operator==(const ImportedFrom&) const = default;
};
std::optional<ImportedFrom> ReadImported(const Features& features);
void SetImported(const ImportedFrom& from, Features* features);

// RECORDER: the recorder's scheduling priority, its estimates, how much of each stack it copied, and
// for which moment a flight recorder has written the file.
struct RecorderFacts {
  std::string priority;  // "nice -20", "SCHED_FIFO 10"; empty for an ordinary program
  // An estimate of an event's off-CPU times. The recorder counted all context switches but sampled
  // only some, which stand for the others.
  struct Estimate {
    // Name of the event; its samples are off-CPU times.
    std::string event;
    uint64_t switches = 0, sampled = 0;
    // Nanoseconds of the switches that were not sampled. The periods of samples include this time.
    uint64_t time = 0;
    // Number of samples of equal period that would have the same statistical uncertainty: (Σw)²/Σw²
    // over the times in `time`.
    double placeholders = 0;
    bool operator==(const Estimate&) const = default;
  };
  std::vector<Estimate> estimates;
  // Bytes of stack per sample, if the chains were unwound during the recording. 0: none, or
  // unknown.
  uint64_t copied_stack = 0;
  // The moment for which a flight recorder wrote the file.
  struct Moment {
    uint64_t time = 0;                // in ns of the samples' clock
    uint64_t before = 0, after = 0;   // in ns: how long the file covers, around the moment
    uint64_t dropped = 0;             // samples of the requested time that memory had no room for
    std::string reason;               // what happened: "SIGUSR2"
    bool operator==(const Moment&) const = default;
  };
  std::optional<Moment> moment;
  bool operator==(const RecorderFacts&) const = default;
};
std::optional<RecorderFacts> ReadRecorder(const Features& features);
void SetRecorder(const RecorderFacts& recorder, Features* features);

// Returns the bytes of a section: NAMES and CODE, which symbolize/names/names_codec.h decodes, or
// SUMS, which src/profile/profile_codec.h decodes. Empty if the recording has no such section. The
// bytes live as long as `features`.
std::string_view OwnSection(const Features& features, int bit);

}  // namespace profiler::perf_data

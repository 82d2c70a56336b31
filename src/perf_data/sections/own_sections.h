// The feature sections of ours, between bytes and values. FORMAT.md draws them.
//
// Each Read function reads the section of its feature from `features`. Nothing when it is absent,
// or cut or impossible. Thread-safe.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

// Whether the user callers in the chains of this event's samples are exact: a caller is the address
// of the call, and not of what follows it. Our recorder marks so the events whose user stacks it
// unwinds itself (FORMAT.md).
bool HasExactUserCallers(const perf_event::Attr& attr);

// CHAIN_QUALITY: how the user call chains of the samples were found and where they ended, where the
// recorder unwound them. Lines of text (FORMAT.md).
std::optional<ChainQuality> ReadChainQuality(const Features& features);
void SetChainQuality(const ChainQuality& chains, Features* features);

// IMPORTED: the recording was made of a profile that another program wrote.
struct ImportedFrom {
  std::string file;    // as it was named then
  std::string format;  // in words for a person
  bool operator==(const ImportedFrom&) const = default;
};
std::optional<ImportedFrom> ReadImported(const Features& features);
void SetImported(const ImportedFrom& from, Features* features);

// RECORDER: how the recorder itself ran, where it was not as any other program, and what it has
// estimated.
struct RecorderFacts {
  std::string priority;  // "nice -20", "SCHED_FIFO 10"; empty if it ran as any other program
  // Context switches that were counted, of which some were sampled for all, by the event that their
  // times are samples of.
  struct Estimate {
    std::string event;
    uint64_t switches = 0, sampled = 0;
    uint64_t time = 0;     // ns: of switches without a stack, by the stacks of others
    double stand_ins = 0;  // as many equal stand-ins would make up that time as well
    bool operator==(const Estimate&) const = default;
  };
  std::vector<Estimate> estimates;
  // Bytes of the stack that each sample had, of a recording whose chains were unwound while it went
  // on; 0: none, or not known.
  uint64_t copied_stack = 0;
  bool operator==(const RecorderFacts&) const = default;
};
std::optional<RecorderFacts> ReadRecorder(const Features& features);
void SetRecorder(const RecorderFacts& recorder, Features* features);

// The bytes of a section: of NAMES and CODE, which symbolize/names/names_codec.h reads, and of
// SUMS, which src/profile/profile_codec.h does. Empty where the recording has none. They live as
// long as `features`.
std::string_view OwnSection(const Features& features, int bit);

}  // namespace profiler::perf_data

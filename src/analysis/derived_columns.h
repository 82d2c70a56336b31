// Fills columns of a profile's rows from their other columns. Each function replaces the column's
// former contents. The cost is linear in the rows, plus the cost that a function states.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/analysis/name_pattern.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// Fills Dimension::kSocket with the processor socket of each row's CPU. The profile must have
// Dimension::kCpu. sockets[cpu] is the socket of a CPU.
void AddSockets(std::span<const uint32_t> sockets, profile::Profile& profile);

// Fills Dimension::kCommNoDigit with the thread's name, each run of digits replaced by "<N>", so
// that the threads of a pool become one.
void AddCommsWithoutDigits(profile::Profile& profile);

enum class StackEnd : uint8_t { kOutermost, kInnermost };

// Fills Dimension::kParent with the matching function on each row's stack that is nearest to `end`;
// empty if none matches. Also linear in the stacks.
void AddParents(const NamePattern& pattern, StackEnd end, profile::Profile& profile);

// Fills a column of texts about accesses to memory: Dimension::kMemoryLevel to kPageSize. The
// profile must keep Dimension::kAccess or kData. A text is empty if the sample lacks that fact.
// Also linear in the accesses.
void AddAccessColumn(profile::Dimension dimension, profile::Profile& profile);

// The sources of some derived columns, besides the profile.
struct ColumnSources {
  std::vector<uint32_t> sockets;      // of Dimension::kSocket: sockets[cpu], as for AddSockets
  std::optional<NamePattern> parent;  // of Dimension::kParent, which needs it
  StackEnd parent_end = StackEnd::kOutermost;
};

// Fills a column that follows from the profile, by the functions above. Does nothing for a
// dimension that is read from samples or from texts of tracepoints. To add a derived dimension, add
// it here and in SourceOf.
void AddDerivedColumn(profile::Dimension dimension, const ColumnSources& sources,
                      profile::Profile& profile);

// Returns the dimension of samples that a profile must keep for a column: the dimension itself if
// it is read from samples. Returns nothing if the column follows from threads or stacks.
std::optional<profile::Dimension> SourceOf(profile::Dimension dimension);

// The character that ends each part of a text of Dimension::kTrace, if the text has several parts:
// the text of a tracepoint's record, then the text of each field.
inline constexpr char kTracePartEnd = '\0';

// Splits Dimension::kTrace into the text of the record, which may be empty, and a column of each of
// Profile::trace_fields.
void SplitTraces(profile::Profile& profile);

}  // namespace profiler::analysis

// Columns of a profile's rows that tell more of what the rows have already. Each replaces what the
// column had, and is linear in the rows, besides what it says.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/profile/profile.h"
#include "src/query/name_pattern.h"

namespace profiler::query {

// Dimension::kSocket: the processor socket of each row's CPU, of which the recording must tell
// (Dimension::kCpu). `sockets` is by CPU.
void AddSockets(std::span<const uint32_t> sockets, profile::Profile& profile);

// Dimension::kCommNoDigit: the thread's name with "<N>" for each run of digits, so that the threads
// of a pool are one.
void AddCommsWithoutDigits(profile::Profile& profile);

enum class StackEnd : uint8_t { kOutermost, kInnermost };

// Dimension::kParent: on each row's stack, the function with such a name that is nearest to that
// end; empty where there is none. Linear in the stacks as well.
void AddParents(const NamePattern& pattern, StackEnd end, profile::Profile& profile);

// A column of texts about accesses to memory: Dimension::kMemoryLevel to kPageSize, of a profile
// that keeps Dimension::kAccess or kData. Empty texts: the samples do not say. Linear in the
// accesses as well.
void AddAccessColumn(profile::Dimension dimension, profile::Profile& profile);

// Behind the text of a tracepoint's record and behind each of its fields, where Dimension::kTrace
// has several of them.
inline constexpr char kTracePartEnd = '\0';

// Splits Dimension::kTrace into the text of the record, which may be empty, and a column of each of
// Profile::trace_fields.
void SplitTraces(profile::Profile& profile);

}  // namespace profiler::query

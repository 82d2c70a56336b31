// Reads values from the records of a tracepoint, and computes the arguments of its print format.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "src/machine/events/trace_arguments.h"
#include "src/machine/events/trace_event.h"

namespace profiler::events {

// Bytes of a record that hold the data of a field.
struct TraceData {
  uint32_t offset = 0;
  uint32_t size = 0;
};

// True if all fields, and the data to which they point, lie within the record, and texts end.
bool IsWholeRecord(const TraceEvent& event, std::span<const std::byte> record);

// The functions below require a whole record.

// Reads a number of 1, 2, 4 or 8 bytes, without its sign; 0 for another size.
uint64_t NumberAt(std::span<const std::byte> record, uint32_t offset, uint32_t size);
// Returns the position of a field's data; for a dynamic field, that to which it points.
TraceData DataOf(const TraceEventField& field, std::span<const std::byte> record);
// Returns the text at this position, up to its NUL.
std::string_view TextAt(std::span<const std::byte> record, TraceData data);

// True if ComputeNumber supports the tree.
bool IsNumber(const TraceEvent& event, const TraceArguments& arguments, uint32_t node);
// Computes a tree that is IsNumber(). All numbers have 64 bits and no sign, as in libtraceevent.
// Returns nullopt for a division by zero.
std::optional<uint64_t> ComputeNumber(const TraceEvent& event, const TraceArguments& arguments,
                                      uint32_t node, std::span<const std::byte> record);

// Returns the word after "NAME=" or "NAME:" in the text of a record, up to the next blank; nullopt
// if there is none.
std::optional<std::string_view> ValueInText(std::string_view name, std::string_view text);

}  // namespace profiler::events

// Records as text for a person who debugs a recording: every field of the layout by its name.
//
//     pid                  4711
//     addr                 0x55e7f68d2000
//     filename             "/usr/bin/worker"
//     sample_id
//       pid                4711
//
// One line a field; arrays have a line an entry below their name. What the record has beyond the
// fields of its layout follows as bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/perf_event/codec.h"
#include "src/perf_event/field_name.h"
#include "src/perf_event/registers.h"

namespace profiler::perf_event {

// Appends the lines of a kernel record in native byte order. False when it is too short for its
// layout (the fields that are there are appended, and a line that says where it ended), or when
// nobody has defined its type (its body is appended as bytes). Appends at most about ten times the
// record's size. Thread-safe.
bool AppendFields(RawRecord record, const RecordLayout& layout, Architecture architecture,
                  std::string* out);

// The parts of it, for records that others define. `indent` counts spaces.
void AppendNumber(FieldName name, uint64_t value, int indent, std::string* out);
void AppendText(FieldName name, std::string_view text, int indent, std::string* out);
// At most kMaxShownBytes of them.
inline constexpr size_t kMaxShownBytes = 256;
void AppendBytes(FieldName name, std::span<const std::byte> bytes, int indent, std::string* out);
// 16 bytes a line: offset, hexadecimal, characters.
void AppendHexDump(std::span<const std::byte> bytes, int indent, std::string* out);

// "0x4001 USER|EXACT_IP": the bits of a record header's misc by name, as its type means them.
std::string DescribeMisc(uint32_t type, uint16_t misc);

// "OP_LOAD|LVL_L1|LVL_HIT|SNOOP_NONE|…": the parts of a data_src that say anything.
std::string DescribeDataSource(uint64_t data_src);

}  // namespace profiler::perf_event

// Formats records for debugging a recording: every field of the layout by its name.
//
//     pid                  4711
//     addr                 0x55e7f68d2000
//     filename             "/usr/bin/worker"
//     sample_id
//       pid                4711
//
// One line per field. The entries of an array follow its name, one per line. Bytes behind the
// fields of the layout follow as a dump.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/field_name.h"
#include "src/format/perf_event/register_names.h"

namespace profiler::perf_event {

// Appends the lines of a kernel record in native byte order. If the record is too short for its
// layout, appends the fields that it has and a line that says where it ended, and returns false. If
// its type is unknown, appends its body as bytes and returns false. Appends at most about ten times
// the record's size. Thread-safe.
bool AppendFields(RawRecord record, const RecordLayout& layout, Architecture architecture,
                  std::string* out);

// Append single fields, for records that other packages define. `indent` is a number of spaces.
void AppendNumber(FieldName name, uint64_t value, int indent, std::string* out);
void AppendText(FieldName name, std::string_view text, int indent, std::string* out);
// Shows at most kMaxShownBytes bytes.
inline constexpr size_t kMaxShownBytes = 256;
void AppendBytes(FieldName name, std::span<const std::byte> bytes, int indent, std::string* out);
// Appends 16 bytes per line: offset, hexadecimal, characters.
void AppendHexDump(std::span<const std::byte> bytes, int indent, std::string* out);

// Returns, for example, "0x4001 USER|EXACT_IP": the bits of a record header's misc by name, which
// depends on the type.
std::string DescribeMisc(uint32_t type, uint16_t misc);

// Returns, for example, "OP_LOAD|LVL_L1|LVL_HIT|SNOOP_NONE|…": the non-empty parts of a data_src.
std::string DescribeDataSource(uint64_t data_src);

}  // namespace profiler::perf_event

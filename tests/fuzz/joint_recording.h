// Makes whole recordings whose header, events, ids, records and features agree, except for a few
// numbers that choices spoil.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/record_program.h"

namespace profiler::fuzz {

// Feature sections, keyed by feature bit. EVENT_DESC is missing, because the events determine it.
using Sections = std::map<int, std::string>;

// Return the recording as a file, and as a stream. It has the other byte order if `swapped`.
Bytes FileOf(const RecordProgram& program, const Sections& sections, bool swapped);
Bytes StreamOf(const RecordProgram& program, const Sections& sections, bool swapped);

struct JointRecording {
  RecordProgram program;
  Sections sections;
  Bytes bytes;
  bool is_stream = false;
  bool is_spoilt = false;
};

// Makes a recording from choices. `files` are additional image names; see MakeRecords.
JointRecording MakeRecording(Choices& choices, std::span<const std::string> files);

}  // namespace profiler::fuzz

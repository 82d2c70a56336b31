// Whole recordings whose header, events, ids, records and features agree with one another, but for
// a few numbers that choices spoil.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/record_program.h"

namespace profiler::fuzz {

using Sections = std::map<int, std::string>;  // by bit; EVENT_DESC is made of the events

// What a recording says, in the layout of a file and as a stream; in the other byte order where
// `swapped`.
Bytes FileOf(const RecordProgram& program, const Sections& sections, bool swapped);
Bytes StreamOf(const RecordProgram& program, const Sections& sections, bool swapped);

struct JointRecording {
  RecordProgram program;
  Sections sections;
  Bytes bytes;
  bool is_stream = false;
  bool is_spoilt = false;
};

// `files`: see MakeRecords.
JointRecording MakeRecording(Choices& choices, std::span<const std::string> files);

}  // namespace profiler::fuzz

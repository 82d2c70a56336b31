// Makes records of threads, mappings and samples, in any order, from choices. Processes, addresses
// and times are few, so that the records interfere with each other.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/format/perf_data/write/writer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

struct RecordProgram {
  std::vector<perf_data::EventToWrite> events;
  Bytes records;  // the records, with markers of rounds
  uint64_t samples = 0;
};

// The process ids that the records use, and the ranges of their addresses. Each range is kPages
// pages and starts at one of kLowestAddresses.
inline constexpr uint32_t kProcesses[] = {7, 8, 9, 1, 0, 0xffffffff};
inline constexpr uint64_t kLowestAddresses[] = {
    0x10000, 0, 0xffffffff81000000, 0x7ffffffff8000, 0xfffffffffffe0000, 1ull << 63};
inline constexpr uint64_t kPages = 16;
inline constexpr uint64_t kPage = 0x1000;

// Makes records until the choices end, or `most_records` are made. `files` are names of
// images. Every program also uses names from a fixed list.
RecordProgram MakeRecords(Choices& choices, std::span<const std::string> files,
                          size_t most_records);

}  // namespace profiler::fuzz

// Records of threads that are made and end, of what they map and of samples, in any order, as a
// program of choices says: of few processes, addresses and times, so that they get in each other's
// way.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/perf_data/write/writer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

struct RecordProgram {
  std::vector<perf_data::EventToWrite> events;
  Bytes records;  // with markers of rounds
  uint64_t samples = 0;
};

// The processes and addresses that the records are about.
inline constexpr uint32_t kProcesses[] = {7, 8, 9, 1, 0, 0xffffffff};
inline constexpr uint64_t kLowestAddresses[] = {
    0x10000, 0, 0xffffffff81000000, 0x7ffffffff8000, 0xfffffffffffe0000, 1ull << 63};
inline constexpr uint64_t kPages = 16;
inline constexpr uint64_t kPage = 0x1000;

// `files`: names of images besides those that every program knows. Ends with the choices, or after
// `most_records`.
RecordProgram MakeRecords(Choices& choices, std::span<const std::string> files,
                          size_t most_records);

}  // namespace profiler::fuzz

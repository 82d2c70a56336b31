// The samples of a recording, summed up: all that a report needs of them, and nothing named yet. So
// whoever has the sums need not read the records, which are a hundred times as many bytes.
//
//   row (event, thread) ──▶ stack ──▶ its caller's stack ──▶ … ──▶ none
//                             └──▶ frame ──▶ image

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/huge_pages.h"
#include "src/base/stacks.h"
#include "src/base/string_table.h"

namespace profiler {

// What a recording lacks, or has and makes no sense.
struct LossCounts {
  uint64_t lost_records = 0;  // PERF_RECORD_LOST
  uint64_t lost_samples = 0;  // PERF_RECORD_LOST_SAMPLES
  uint64_t lost_events = 0;   // how many LOST records said so ("chunks")
  uint64_t throttled = 0;
  uint64_t undecodable = 0;     // records too short for their layout
  uint64_t corrupt_chains = 0;  // call chains that were not believed; their samples count
  uint64_t unknown_records = 0;
  bool operator==(const LossCounts&) const = default;
};

struct SampleSums {
  static constexpr uint32_t kNone = UINT32_MAX;
  // Frames of a stack, at most: more than a record can have.
  static constexpr uint32_t kMostFrames = 1 << 15;

  struct Event {
    uint64_t samples = 0;
    uint64_t period = 0;
  };
  struct Image {
    uint8_t kind = 0;  // a symbolize::ImageKind
    uint32_t pid = 0;  // of the first process that had it
    StringId path{};
    std::vector<std::byte> build_id;
  };
  // A name that the recording itself gives to code of the kernel.
  struct KernelSymbol {
    uint64_t start = 0, size = 0;
    StringId name{};
  };
  struct Frame {
    uint32_t image = kNone;  // kNone: nothing was mapped there
    uint8_t mode = 0;        // a profile::Mode
    bool return_address = false;
    uint64_t offset = 0;  // in the image; where nothing was mapped the address itself
    uint64_t ip = 0;      // where it first ran
  };

  // Bytes of the records that are summed up: where there are others now, the sums are of no use.
  uint64_t data_size = 0;

  StringTable strings;
  std::vector<Event> events;  // as the recording numbers them
  std::vector<Image> images;
  StringId kernel_reference{};  // a symbol of the kernel; empty: none
  uint64_t kernel_reference_address = 0;
  std::vector<KernelSymbol> kernel_symbols;
  std::vector<StringId> threads;  // those of one name are one
  HugeVector<Frame> frames;
  HugeVector<StackNode> stacks;
  HugeVector<Row> rows;
  LossCounts losses;
};

}  // namespace profiler

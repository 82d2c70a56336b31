// The details of one sample beyond its row in a Profile, for views that show single samples.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// A taken branch. The frames are kNoFrame unless they were requested.
struct Branch {
  uint64_t from = 0, to = 0;
  uint64_t flags = 0;  // perf_event::BranchEntry::flags
  FrameId from_frame = kNoFrame, to_frame = kNoFrame;
};

// The recorded registers, by perf's names.
struct RegisterValues {
  uint64_t abi = 0;  // PERF_SAMPLE_REGS_ABI_*; 0: no registers
  std::vector<std::pair<std::string_view, uint64_t>> values;
};

// The details. Fields that the event does not record are zero or empty. The function that returns a
// SampleDetails says how long its texts and views are valid.
struct SampleDetails {
  uint16_t misc = 0;  // misc of the record's header
  uint64_t addr = 0;
  FrameId addr_frame = kNoFrame;  // kNoFrame unless requested
  uint64_t data_src = 0;
  std::string data_source;  // data_src in perf's words
  uint64_t weight = 0;      // WEIGHT, or the first field of WEIGHT_STRUCT
  uint32_t instruction_latency = 0, retire_latency = 0;  // other fields of WEIGHT_STRUCT, in cycles
  std::string trace;                                     // text of a tracepoint's record
  std::string_view cgroup;                               // path; empty if no CGROUP record has it
  uint64_t phys_addr = 0;
  uint64_t data_page_size = 0, code_page_size = 0;  // bytes; 0: unknown
  std::span<const std::byte> instruction;           // machine code; empty: unknown
  std::vector<Branch> branches;                     // taken branches, the latest first
  RegisterValues user_registers, interrupt_registers;
};

}  // namespace profiler::profile

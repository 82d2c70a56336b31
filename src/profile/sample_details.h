// What one sample says beyond what a Profile keeps of it: a value for views that show sample by
// sample.

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

// A taken branch; where it is in the code, kNoFrame unless that was asked for.
struct Branch {
  uint64_t from = 0, to = 0;
  uint64_t flags = 0;  // perf_event::BranchEntry::flags
  FrameId from_frame = kNoFrame, to_frame = kNoFrame;
};

// The registers that were recorded, by the names that perf gives them.
struct RegisterValues {
  uint64_t abi = 0;  // PERF_SAMPLE_REGS_ABI_*; 0: there are none
  std::vector<std::pair<std::string_view, uint64_t>> values;
};

// Fields that the event does not record are zero or empty. Texts and views are good as long as the
// one who handed it out says.
struct SampleDetails {
  uint16_t misc = 0;  // of the record's header
  uint64_t addr = 0;
  FrameId addr_frame = kNoFrame;  // as for branches
  uint64_t data_src = 0;
  std::string data_source;                               // data_src in words, as perf has them
  uint64_t weight = 0;                                   // WEIGHT, or the first of WEIGHT_STRUCT
  uint32_t instruction_latency = 0, retire_latency = 0;  // the others; cycles
  std::string trace;                                     // what a tracepoint's record says
  std::string_view cgroup;  // its path; "" where no CGROUP record told it
  uint64_t phys_addr = 0;
  uint64_t data_page_size = 0, code_page_size = 0;  // bytes
  std::span<const std::byte> instruction;           // machine code; empty: not known
  std::vector<Branch> branches;                     // the latest first
  RegisterValues user_registers, interrupt_registers;
};

}  // namespace profiler::profile

// Finds the machine code of single instructions that samples interrupted.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/annotate/disassembler.h"
#include "symbolize/symbolizer.h"

namespace profiler::annotate {

// A cache of instructions by frame; each frame is looked up once. `profile` and `symbolizer` must
// outlive the cache; the profile may grow. Not thread-safe.
class InstructionBytes {
 public:
  InstructionBytes(const profile::Profile& profile, symbolize::Symbolizer& symbolizer)
      : profile_(profile), symbolizer_(symbolizer) {}

  // Returns the instruction at the frame's address. Empty if Annotate would find no code, or if no
  // valid instruction begins there.
  std::span<const std::byte> At(profile::FrameId frame);

 private:
  std::span<const std::byte> Find(const profile::Frame& frame);
  Disassembler* DisassemblerFor(uint16_t machine);

  const profile::Profile& profile_;
  symbolize::Symbolizer& symbolizer_;
  std::vector<std::optional<std::span<const std::byte>>> known_;     // [f]: code at frame f
  std::map<uint16_t, std::unique_ptr<Disassembler>> disassemblers_;  // keyed by machine
};

}  // namespace profiler::annotate

// Tracks a function's frame along its instructions: the positions of the return address and of the
// caller's frame pointer after each instruction. The instructions of each architecture, and pictures
// of its frames, are in arch/.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/unwind/arch/frame_state.h"
#include "symbolize/unwind/arch/instruction.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// Returns the rule that finds the caller in a state; kNone if the caller cannot be found.
UnwindRule UnwindRuleOf(const FrameState& state, Architecture architecture);

// A decoded instruction.
class FrameInstruction {
 public:
  explicit FrameInstruction(Architecture architecture) : architecture_(architecture) {}

  using Flow = InstructionFlow;

  // Decodes the first instruction of `code`, which must not be empty. Returns false if it is
  // invalid, or if the architecture's instructions are unknown.
  bool Decode(std::span<const std::byte> code, ElfAddress address) {
    return architecture_->decode != nullptr && architecture_->decode(code, address, &decoded_);
  }

  size_t length() const { return decoded_.length; }
  Flow flow() const { return decoded_.flow; }
  // Returns the target of kCall, kBranch and kJump; empty if it is not a constant.
  std::optional<ElfAddress> target() const { return decoded_.target; }
  bool IsPadding() const { return decoded_.is_padding; }
  bool Returns() const { return decoded_.returns; }
  bool Halts() const { return decoded_.halts; }
  bool IsPrologue() const { return decoded_.is_prologue; }

  // Returns the state after the instruction.
  FrameState After(FrameState state) const {
    architecture_->apply(decoded_, &state);
    return state;
  }

 private:
  const Architecture architecture_;
  DecodedInstruction decoded_;
};

}  // namespace profiler::symbolize

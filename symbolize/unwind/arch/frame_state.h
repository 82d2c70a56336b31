// The state of a function's frame between two of its instructions: the positions of the return
// address and of the caller's frame pointer. frame_state.h of the package above says how it is
// used, and the decoder of each architecture says how instructions change it.

#pragma once

#include <cstdint>
#include <optional>

#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {

struct FrameState {
  // Returns the state at a function's first instruction.
  static FrameState AtStart(Architecture architecture) {
    FrameState state;
    state.saved_return =
        HasLinkRegister(architecture) ? 0 : static_cast<int32_t>(WordSize(architecture));
    state.depth = state.saved_return;
    return state;
  }

  // Bytes from the stack pointer up to the CFA; empty: unknown.
  std::optional<int32_t> depth = 8;
  enum FramePointer : uint8_t {
    kOfCaller,   // fp still has the caller's frame pointer
    kOfFrame,    // fp points fp_depth bytes below the CFA
    kOutermost,  // fp was set to 0, and the caller's frame pointer is not saved
    kOther,      // fp has an unknown value
  };
  FramePointer fp = kOfCaller;
  int32_t fp_depth = 0;
  // Bytes from the slot of the caller's frame pointer up to the CFA; 0: not saved.
  int32_t saved_fp = 0;
  // Bytes from the slot of the return address up to the CFA; 0: not saved.
  int32_t saved_return = 8;
  bool keeps_link = true;  // true while the link register has the return address
  // True if all depths except saved_return count from the aligned stack pointer.
  bool is_aligned = false;
  uint16_t cfa_register = 0;  // the decoder's number of the register with the CFA; 0: no register
  int32_t saved_cfa = 0;      // slot in which cfa_register is saved; 0: not saved

  bool operator==(const FrameState&) const = default;
};

// Returns `depth` + `bytes`. Empty if `depth` is unknown or the result is no possible depth.
std::optional<int32_t> Deeper(std::optional<int32_t> depth, int64_t bytes);

}  // namespace profiler::symbolize

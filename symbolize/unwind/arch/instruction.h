// A decoded instruction, as far as unwinding needs it. An architecture's decoder fills it in.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>

#include "src/base/address.h"

namespace profiler::symbolize {

enum class InstructionFlow : uint8_t {
  kNext,     // continues with the next instruction
  kCall,     // calls `target` and then continues with the next instruction
  kBranch,   // continues at `target` or with the next instruction
  kJump,     // continues at `target`
  kFarJump,  // continues at an address in a register or in memory
  kEnd,      // returns, or stops the program
};

struct DecodedInstruction {
  size_t length = 0;  // bytes
  InstructionFlow flow = InstructionFlow::kNext;
  // Target of kCall, kBranch and kJump; empty if it is not a constant.
  std::optional<ElfAddress> target;
  bool is_padding = false;
  // True if the instruction returns to the caller. Other instructions with kEnd stop the program.
  bool returns = false;
  // True for an instruction that no program may run. C libraries put it behind a last call.
  bool halts = false;
  // True if the instruction saves a register of the caller, reserves space on the stack, or marks a
  // possible call target (endbr64, endbr32, bti c).
  bool is_prologue = false;

  // The decoder's own value. It is kept here because instructions are decoded one by one in hot
  // loops.
  template <class T>
  T& Make() {
    static_assert(sizeof(T) <= sizeof(room) && std::is_trivially_copyable_v<T>);
    return *new (room.data()) T;
  }
  template <class T>
  const T& Get() const {
    return *std::launder(reinterpret_cast<const T*>(room.data()));
  }

  static constexpr size_t kRoom = 1536;
  alignas(std::max_align_t) std::array<std::byte, kRoom> room;  // not initialized
};

}  // namespace profiler::symbolize

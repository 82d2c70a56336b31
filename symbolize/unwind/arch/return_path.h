// Positions of a caller's registers, as the instructions at a frame's pc show them (bare_frame.h).

#pragma once

#include <cstdint>
#include <optional>

namespace profiler::symbolize {

// Positions on the stack are in words above the stack pointer.
struct ReturnPath {
  uint64_t return_address = 0;
  // Position of the caller's frame pointer; empty: it is still in the frame-pointer register.
  std::optional<uint64_t> frame_pointer;
  bool in_link_register = false;  // true if the return address is in the link register
  // The caller's stack pointer, if there is a link register and it is known. Without a link
  // register, it is the word after the return address.
  std::optional<uint64_t> caller_stack = std::nullopt;
  bool operator==(const ReturnPath&) const = default;
};

}  // namespace profiler::symbolize

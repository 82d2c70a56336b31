// What samples add up to, whoever made the sums: stacks as a tree, and rows that name them.

#pragma once

#include <cstdint>

namespace profiler {

enum class EventId : uint32_t {};
enum class ThreadId : uint32_t {};
enum class FrameId : uint32_t {};
enum class StackId : uint32_t {};
inline constexpr StackId kNoStack{0xffffffff};

struct StackNode {
  StackId parent = kNoStack;  // the caller: its id is lower
  FrameId frame{};
  uint32_t depth = 1;  // frames from here to the root
};

// Samples that agree in all that is told apart.
struct Row {
  EventId event{};
  ThreadId thread{};
  FrameId self{};  // of the sample's ip
  StackId stack =
      kNoStack;  // its leaf has frame `self`, unless the call chain began elsewhere (skid); a
                 // sample without a call chain is a stack of one frame; never kNoStack
  uint64_t count = 0;
  uint64_t period = 0;
};
static_assert(sizeof(Row) == 32);  // there are many

}  // namespace profiler

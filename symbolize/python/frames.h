// Walks the frames of a Python thread, as the program in the kernel does it (walk_layout.h). For
// checks of a layout, and for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolize/process_memory.h"
#include "symbolize/python/walk_layout.h"

namespace profiler::symbolize::python {

struct Frame {
  uint64_t code = 0;         // address of the code object
  uint64_t instruction = 0;  // as the walk reads it
  uint64_t globals = 0;
  bool is_entry = false;  // outermost function of a call of the evaluation loop
};

struct Frames {
  std::vector<Frame> frames;  // the newest first
  bool is_whole = false;      // false: memory was not readable, or there were too many frames
};

// Returns the thread states of all interpreters, at most `most`.
std::vector<uint64_t> ReadThreads(ProcessMemory& memory, const WalkLayout& layout, size_t most);
// Returns the thread state of the thread with that pthread_self(); empty: none.
std::optional<uint64_t> FindThread(ProcessMemory& memory, const WalkLayout& layout, uint64_t id);
// Reads at most `most` frames of a thread state.
Frames ReadFrames(ProcessMemory& memory, const WalkLayout& layout, uint64_t thread, size_t most);

}  // namespace profiler::symbolize::python

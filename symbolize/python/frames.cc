#include "symbolize/python/frames.h"

#include <array>
#include <cstring>
#include <functional>
#include <span>

namespace profiler::symbolize::python {
namespace {

constexpr size_t kMostInterpreters = 64, kMostThreads = 1 << 14;

// Calls `visit` for each thread state until it returns false.
void ForEachThread(ProcessMemory& memory, const WalkLayout& layout,
                   const std::function<bool(uint64_t)>& visit) {
  const auto word = [&](uint64_t address) { return memory.Value<uint64_t>(address).value_or(0); };
  uint64_t interpreter = word(layout.interpreters_head);
  size_t threads = 0;
  for (size_t i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
    uint64_t thread = word(interpreter + layout.interpreter_threads);
    for (; thread != 0 && threads < kMostThreads; ++threads) {
      if (word(thread + layout.thread_interpreter) != interpreter) break;
      if (!visit(thread)) return;
      thread = word(thread + layout.thread_next);
    }
    interpreter = word(interpreter + layout.interpreter_next);
  }
}

// The first bytes of a frame.
class Head {
 public:
  bool Read(ProcessMemory& memory, const WalkLayout& layout, uint64_t address) {
    return layout.frame_bytes <= bytes_.size() &&
           memory.Read(address, std::span(bytes_).first(layout.frame_bytes));
  }
  uint64_t Number(uint16_t offset, size_t size) const {
    uint64_t number = 0;
    if (offset + size <= bytes_.size()) std::memcpy(&number, bytes_.data() + offset, size);
    return number;
  }

 private:
  std::array<std::byte, kPythonMostFrameBytes> bytes_{};
};

}  // namespace

std::vector<uint64_t> ReadThreads(ProcessMemory& memory, const WalkLayout& layout, size_t most) {
  std::vector<uint64_t> threads;
  if (most == 0) return threads;
  ForEachThread(memory, layout, [&](uint64_t thread) {
    threads.push_back(thread);
    return threads.size() < most;
  });
  return threads;
}

std::optional<uint64_t> FindThread(ProcessMemory& memory, const WalkLayout& layout, uint64_t id) {
  std::optional<uint64_t> found;
  ForEachThread(memory, layout, [&](uint64_t thread) {
    if (memory.Value<uint64_t>(thread + layout.thread_id) == id) found = thread;
    return !found;
  });
  return found;
}

Frames ReadFrames(ProcessMemory& memory, const WalkLayout& layout, uint64_t thread, size_t most) {
  constexpr size_t kWord = 8;
  Frames result;
  auto frame = memory.Value<uint64_t>(thread + layout.thread_frame);
  if (layout.frame_indirect != kPythonNoField && frame && *frame != 0) {
    frame = memory.Value<uint64_t>(*frame + layout.frame_indirect);
  }
  const bool has_owner = layout.frame_owner != kPythonNoField;
  bool is_first = true;
  for (; frame && *frame != 0; is_first = false) {
    Head head;
    if (result.frames.size() >= most || !head.Read(memory, layout, *frame)) return result;
    frame = head.Number(layout.frame_previous, kWord);
    if (has_owner && head.Number(layout.frame_owner, 1) >= layout.owner_entry) {
      // The frame of an evaluation loop itself. It is the newest when the loop has just returned
      // from its last function.
      if (is_first) continue;
      if (result.frames.empty() || result.frames.back().is_entry) return result;
      result.frames.back().is_entry = true;
      continue;
    }
    Frame found;
    found.code = head.Number(layout.frame_code, kWord) & ~uint64_t{layout.code_tag_mask};
    found.instruction = head.Number(layout.frame_instruction, layout.instruction_bytes);
    found.globals = head.Number(layout.frame_globals, kWord);
    found.is_entry = !has_owner || (layout.frame_is_entry != kPythonNoField &&
                                    head.Number(layout.frame_is_entry, 1) != 0);
    result.frames.push_back(found);
  }
  result.is_whole = frame.has_value();
  return result;
}

}  // namespace profiler::symbolize::python

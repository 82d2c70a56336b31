// What lies at an address of HotSpot's code cache.
//
//   CodeCache::_heaps ──▶ CodeHeap ──▶ _memory   │ block │ block      │ free │ block │ …
//                                      _segmap   │ 0 1 2 │ 0 1 2 3 4  │ ff … │ 0 1   │   a byte a
//                                                                                        segment:
//                                      how many segments back the block begins, in steps
//   block:  HeapBlock (length, used) │ CodeBlob: name, frame size … │ instructions │ …
//
// Source: src/hotspot/share/memory/heap.cpp (CodeHeap::find_block_for), code/codeBlob.hpp, JDK 17
// and 25.
//
// Private to this package.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "symbolize/hotspot/layout.h"
#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

// A piece of code that HotSpot made.
struct Blob {
  enum class Kind : uint8_t {
    kCompiled,     // a Java method: `method`
    kInterpreter,  // the code of the interpreter, all of it
    kFramed,       // stubs of the runtime, whose frames have a fixed size
    kFrameless,    // adapters, and collections of stubs that have frames as they like
  };

  uint64_t address = 0;
  uint64_t code_begin = 0, code_end = 0;
  Kind kind = Kind::kFrameless;
  std::string name;          // its own, such as "nmethod" or "Interpreter"
  uint64_t frame_bytes = 0;  // of kCompiled and kFramed, with the return address
  // Where in the code the frame is whole, from its begin. Negative: nowhere.
  int64_t frame_complete = -1;
  uint64_t method = 0;            // of kCompiled: its Method
  int32_t orig_pc = 0;            // of kCompiled: where a frame that is deoptimized has its pc
  std::vector<std::byte> header;  // its own fields, as they are

  bool HasCode(uint64_t pc) const { return pc >= code_begin && pc < code_end; }
  // Of a field of the header.
  template <class T>
  std::optional<T> Field(uint64_t offset) const;
};

// Not thread-safe. Keeps what it found, of at most kMostBlobs.
class CodeCache {
 public:
  static constexpr size_t kMostBlobs = size_t{1} << 16;
  static constexpr uint64_t kLargestBlob = uint64_t{16} << 20;

  // Both must outlive it.
  CodeCache(ProcessMemory& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  // What was found has to be looked at again before it is believed.
  void Refresh() { ++look_; }

  // What has the code at `pc`; null where none is known to. Valid until the next call. `number` of
  // it is another one where it is not what was there before.
  struct Known {
    Blob blob;
    uint64_t number = 0;
    uint64_t look = 0;
  };
  const Known* Find(uint64_t pc);

 private:
  struct Heap {
    uint64_t low = 0, high = 0, map = 0;
    uint32_t log2_segment = 0;
  };

  const Heap* HeapOf(uint64_t pc);
  void ReadHeaps();
  std::optional<uint64_t> FindBlob(uint64_t pc);
  std::optional<uint64_t> FirstSegment(const Heap& heap, uint64_t segment);
  std::optional<Blob> ReadBlob(uint64_t address);
  std::optional<std::string> ReadName(uint64_t address);

  ProcessMemory& memory_;
  const Layout& layout_;
  uint64_t look_ = 1, heaps_look_ = 0;
  std::vector<Heap> heaps_;
  uint64_t last_number_ = 0;
  std::map<uint64_t, Known> known_;  // by the end of the code
};

template <class T>
std::optional<T> Blob::Field(uint64_t offset) const {
  if (offset > header.size() || header.size() - offset < sizeof(T)) return std::nullopt;
  std::array<std::byte, sizeof(T)> bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = header[offset + i];
  return std::bit_cast<T>(bytes);
}

}  // namespace profiler::symbolize::hotspot

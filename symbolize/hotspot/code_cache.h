// What lies at an address of HotSpot's code cache.
//
//   CodeCache::_heaps ──▶ CodeHeap ──▶ _memory   │ block │ block      │ free │ block │ …
//                                      _segmap   │ 0 1 2 │ 0 1 2 3 4  │ ff … │ 0 1   │   a byte a
//                                                                                        segment:
//                                      how many segments back the block begins, in steps
//   block:  HeapBlock (length, used) │ CodeBlob: name, frame size … │ instructions │ …
//
// The code cache is read after the sample, and HotSpot frees code and puts other code there. So all
// blobs are listed at each look, before the next samples are taken: a blob that had the same
// compile id before the sample as after it was there all the time, because HotSpot uses no id
// twice.
//
// Source: src/hotspot/share/memory/heap.cpp (CodeHeap::find_block_for), code/codeBlob.hpp, JDK 17
// and 25.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  uint64_t deopt_handler = 0;     // of kCompiled: where such a frame is returned to; 0: unknown
  std::vector<std::byte> header;  // its own fields, as they are

  bool HasCode(uint64_t pc) const { return pc >= code_begin && pc < code_end; }
  // True if it is made when the VM starts, and never freed.
  bool IsPermanent() const {
    return kind == Kind::kInterpreter || name.starts_with("StubRoutines");
  }
  // Of a field of the header.
  template <class T>
  std::optional<T> Field(uint64_t offset) const;
};

// Not thread-safe. Keeps what it found, of at most kMostBlobs, and lists at most kMostListed. A
// look costs the map, a byte for 128 bytes of code, and 1 µs for each blob that was not there
// before.
class CodeCache {
 public:
  static constexpr size_t kMostBlobs = size_t{1} << 16;
  static constexpr size_t kMostListed = size_t{1} << 18;
  static constexpr uint64_t kLargestBlob = uint64_t{16} << 20;
  // A shorter time would cost more, a longer one leave more samples in new code without a name.
  static constexpr uint64_t kListInterval = 20'000'000;  // ns

  // All must outlive it. `live` is read anew each time, `memory` may keep what was read of it until
  // the next look.
  CodeCache(ProcessMemory& live, ProcessMemory& memory, const Layout& layout)
      : live_(live), memory_(memory), layout_(layout) {}

  // What was found has to be looked at again before it is believed.
  void Refresh() { ++look_; }
  // Lists the blobs that are there, unless that was done less than kListInterval ago.
  void List();

  // What has the code at `pc`; null where none is known to. Valid until the next call. `number` of
  // it is another one where it is not what was there before.
  struct Known {
    Blob blob;
    uint64_t number = 0;
    uint64_t look = 0;
    uint64_t since = 0;  // by when it was there, as ProcessMemory::Now
    // True if nothing had been where it is one look earlier.
    bool is_fresh = false;

    // True if a thread that was in this code at `time` was in this blob.
    bool WasThere(uint64_t time) const { return since <= time || blob.IsPermanent(); }
  };
  const Known* Find(uint64_t pc);
  // True if the blob is still there. Reads it anew.
  bool IsStill(const Blob& blob);
  // True if the address is in a heap of HotSpot's code.
  bool HasCode(uint64_t pc) { return HeapOf(pc) != nullptr; }

 private:
  // Fields that tell a blob from others at the same address.
  struct Identity {
    uint64_t name = 0, method = 0, begin = 0, end = 0;
    uint32_t size = 0;
    int32_t compile_id = 0, frame_words = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Listed {
    Identity identity;
    uint64_t since = 0;
    bool is_fresh = false;
  };
  struct Begin {
    uint64_t address = 0;
    bool is_fresh = false;
  };
  struct Heap {
    uint64_t low = 0, high = 0, map = 0;
    uint32_t log2_segment = 0;
  };
  using Begins = std::vector<Begin>;

  const Heap* HeapOf(uint64_t pc);
  void ReadHeaps();
  void ReadMaps(Begins* blobs);
  void FindChanged(const Heap& heap, std::vector<uint8_t> map, Begins* blobs);
  void ListChanged(const Begins& blobs);
  size_t HeaderSize() const { return std::max(layout_.blob_size, layout_.nmethod_size); }
  Identity IdentityOf(uint64_t address, std::span<const std::byte> header) const;
  Listed ListedAs(uint64_t address, const Identity& identity);
  std::optional<uint64_t> FindBlob(uint64_t pc);
  std::optional<uint64_t> FirstSegment(const Heap& heap, uint64_t segment);
  std::optional<Blob> ReadBlob(uint64_t address);
  uint64_t DeoptHandlerOf(const Blob& blob) const;
  std::optional<std::string> ReadName(uint64_t address);

  ProcessMemory& live_;
  ProcessMemory& memory_;
  const Layout& layout_;
  uint64_t look_ = 1;
  std::optional<uint64_t> listed_at_;  // as ProcessMemory::Now
  std::vector<Heap> heaps_;
  absl::flat_hash_map<uint64_t, std::vector<uint8_t>> maps_;  // by a heap's first address
  absl::flat_hash_map<uint64_t, Listed> listed_;              // by a blob's address
  uint64_t last_number_ = 0;
  std::map<uint64_t, Known> known_;  // by the end of the code
};

template <class T>
std::optional<T> FieldOf(std::span<const std::byte> header, uint64_t offset) {
  if (offset > header.size() || header.size() - offset < sizeof(T)) return std::nullopt;
  std::array<std::byte, sizeof(T)> bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = header[offset + i];
  return std::bit_cast<T>(bytes);
}

template <class T>
std::optional<T> Blob::Field(uint64_t offset) const {
  return FieldOf<T>(header, offset);
}

}  // namespace profiler::symbolize::hotspot

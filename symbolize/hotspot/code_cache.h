// Finds the code at an address of HotSpot's code cache.
//
//   CodeCache::_heaps ──▶ CodeHeap ──▶ _memory   │ block │ block      │ free │ block │ …
//                                      _segmap   │ 0 1 2 │ 0 1 2 3 4  │ ff … │ 0 1   │
//                                                one byte per segment: steps back to its block
//   block:  HeapBlock (length, used) │ CodeBlob: name, frame size … │ instructions │ …
//
// The code cache is read after the sample, and HotSpot may have freed code and put other code
// there. So each look lists all blobs, before the next samples are taken. A blob with the same
// compile id before and after a sample was there during the sample, because HotSpot never reuses an
// id.
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
    kInterpreter,  // the whole interpreter
    kFramed,       // runtime stubs with frames of a fixed size
    kFrameless,    // adapters, and stubs with frames of various sizes
  };

  uint64_t address = 0;
  uint64_t code_begin = 0, code_end = 0;
  Kind kind = Kind::kFrameless;
  std::string name;          // the blob's name, such as "nmethod" or "Interpreter"
  uint64_t frame_bytes = 0;  // kCompiled, kFramed: size of the frame, including the return address
  // Offset in the code from which the frame is complete; negative: never.
  int64_t frame_complete = -1;
  uint64_t method = 0;  // kCompiled: address of its Method
  // kCompiled: offset from sp to the slot in which a deoptimized frame keeps its original pc.
  int32_t orig_pc = 0;
  // kCompiled: return address of a deoptimized frame; 0: unknown.
  uint64_t deopt_handler = 0;
  std::vector<std::byte> header;  // bytes of the blob's own fields

  bool HasCode(uint64_t pc) const { return pc >= code_begin && pc < code_end; }
  // Returns true if the blob is made when the VM starts, and never freed.
  bool IsPermanent() const {
    return kind == Kind::kInterpreter || name.starts_with("StubRoutines");
  }
  // Returns a field of the header.
  template <class T>
  std::optional<T> Field(uint64_t offset) const;
};

// The code of one process. Keeps at most kMostBlobs blobs and lists at most kMostListed. Cost of a
// look: reading _segmap, which has a byte per 128 bytes of code, and 1 µs per new blob. Not
// thread-safe.
class CodeCache {
 public:
  static constexpr size_t kMostBlobs = size_t{1} << 16;
  static constexpr size_t kMostListed = size_t{1} << 18;
  static constexpr uint64_t kLargestBlob = uint64_t{16} << 20;
  // Shorter intervals cost more; with longer ones, more samples in new code have no name.
  static constexpr uint64_t kListInterval = 20'000'000;  // ns

  // All arguments must outlive this object. `live` must not cache; `memory` may cache until the
  // next look.
  CodeCache(ProcessMemory& live, ProcessMemory& memory, const Layout& layout)
      : live_(live), memory_(memory), layout_(layout) {}

  // Makes Find compare each blob with memory once more before it returns the blob.
  void Refresh() { ++look_; }
  // Lists all blobs, unless the last list is younger than kListInterval.
  void List();

  // A blob that was found. `number` changes if another blob replaces it.
  struct Known {
    Blob blob;
    uint64_t number = 0;
    uint64_t look = 0;
    uint64_t since = 0;  // a time at which the blob was there already (ProcessMemory::Now)
    // True if the blob's memory was unused one look earlier.
    bool is_fresh = false;

    // Returns true if the blob was at its address at `time`.
    bool WasThere(uint64_t time) const { return since <= time || blob.IsPermanent(); }
  };
  // Returns the code at `pc`; null: none known. Valid until the next call.
  const Known* Find(uint64_t pc);
  // Reads the blob again. Returns true if it is still at its address.
  bool IsStill(const Blob& blob);
  // Returns true if the address is in one of HotSpot's code heaps.
  bool HasCode(uint64_t pc) { return HeapOf(pc) != nullptr; }

 private:
  // Fields that distinguish a blob from others at the same address.
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
  std::optional<uint64_t> listed_at_;  // time of the last list, by ProcessMemory::Now
  std::vector<Heap> heaps_;
  absl::flat_hash_map<uint64_t, std::vector<uint8_t>> maps_;  // keyed by the start of the heap
  absl::flat_hash_map<uint64_t, Listed> listed_;              // keyed by the address of the blob
  uint64_t last_number_ = 0;
  std::map<uint64_t, Known> known_;  // keyed by the end of the code
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

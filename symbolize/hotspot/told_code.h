// Tells a CodeSink of code and methods when they are met: once, and again where they are others by
// now, or may have been covered.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "symbolize/hotspot/code_cache.h"
#include "symbolize/hotspot/layout.h"
#include "symbolize/hotspot/methods.h"
#include "symbolize/process_memory.h"
#include "symbolize/symbols/made_code.h"

namespace profiler::symbolize::hotspot {

// Not thread-safe.
class ToldCode {
 public:
  // What is read and told in all: more than VMs have code (-XX:ReservedCodeCacheSize), some times
  // over. What is met later has no name.
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  static constexpr std::string_view kUnknownCode = "[unknown code]";

  // All must outlive it.
  ToldCode(ProcessMemory& memory, const Layout& layout, CodeCache& cache, Methods& methods,
           CodeSink& sink)
      : memory_(memory), layout_(layout), cache_(cache), methods_(methods), sink_(sink) {}

  // A piece of code, with what was inlined into it. It has no name if it is freed while it is read.
  void Tell(const CodeCache::Known& known);
  // Takes the name of the code at `pc` away, from the sample at hand on: nobody knows which code
  // was there.
  void Hide(uint64_t pc);
  // The bytecodes of a method, and its ConstMethod in front of them.
  void Tell(const Methods::Known& known);

 private:
  struct Told {
    uint64_t number = 0, generation = 0;
    bool operator==(const Told&) const = default;
  };
  using ByAddress = absl::flat_hash_map<uint64_t, Told>;

  void Add(const Blob& blob, const MadeCode& code);
  // Whether it was told; it counts as told from now on.
  bool WasTold(ByAddress& all, uint64_t address, uint64_t number, uint64_t bytes);

  ProcessMemory& memory_;
  const Layout& layout_;
  CodeCache& cache_;
  Methods& methods_;
  CodeSink& sink_;
  uint64_t bytes_ = 0;
  ByAddress blobs_, const_methods_;
  struct Piece {
    uint64_t begin = 0, blob = 0;
  };
  std::map<uint64_t, Piece> pieces_;  // of code that has a name, by its end
};

}  // namespace profiler::symbolize::hotspot

// Passes code and methods to a CodeSink when a frame in them is first met. Passes them again if
// they have changed, or if the sink may have overwritten them.
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
#include "symbolize/symbols/vm_code.h"

namespace profiler::symbolize::hotspot {

// A record of the code that was passed to the sink. Not thread-safe.
class ReportedCode {
 public:
  // Limit on all bytes read and passed: several times the largest code cache
  // (-XX:ReservedCodeCacheSize). Code met later has no name.
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  static constexpr std::string_view kUnknownCode = "[unknown code]";

  // All arguments must outlive this object.
  ReportedCode(ProcessMemory& memory, const Layout& layout, CodeCache& cache, Methods& methods,
               CodeSink& sink)
      : memory_(memory), layout_(layout), cache_(cache), methods_(methods), sink_(sink) {}

  // Passes a piece of code, with its inlined calls. Code that is freed while it is read gets no
  // name.
  void Tell(const CodeCache::Known& known);
  // Removes the name of the code at `pc`, from the current sample on, because the code there is
  // unknown.
  void Hide(uint64_t pc);
  // Passes the bytecodes of a method, preceded by its ConstMethod.
  void Tell(const Methods::Known& known);

 private:
  struct Told {
    uint64_t number = 0, generation = 0;
    bool operator==(const Told&) const = default;
  };
  using ByAddress = absl::flat_hash_map<uint64_t, Told>;

  void Add(const Blob& blob, const VmCode& code);
  // Returns true if the code was passed already or if the limit is reached. Otherwise counts the
  // code as passed.
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
  std::map<uint64_t, Piece> pieces_;  // code that has a name, keyed by the end of the code
};

}  // namespace profiler::symbolize::hotspot

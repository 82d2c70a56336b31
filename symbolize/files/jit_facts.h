// Facts of code that JITs made: from the maps that they write (/tmp/perf-PID.map), and from their
// dumps (jit-PID.dump).
//
// Private to this package.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/symbols/jit_dump.h"
#include "symbolize/symbols/perf_map.h"

namespace profiler::symbolize {

// The maps of all processes.
class PerfMaps {
 public:
  explicit PerfMaps(FactsContext& context) : context_(context) {}

  // Returns the facts of an address of `spec`, whose kind is kJit or kAnonymous. Reads the map of
  // its process once.
  AddressFacts Find(const ImageSpec& spec, RuntimeAddress address);

 private:
  std::unique_ptr<PerfMap> Read(const ImageSpec& spec);
  std::unique_ptr<PerfMap> ReadKept(const ImageSpec& spec) const;

  FactsContext& context_;
  // Keyed by process; null: the process has no map.
  absl::flat_hash_map<uint32_t, std::unique_ptr<PerfMap>> maps_;
};

// One dump.
class JitDumpFacts {
 public:
  explicit JitDumpFacts(FactsContext& context) : context_(context) {}

  // Reads the dump of `spec`, whose kind is kJitDump. After an error, all addresses are unnamed.
  absl::Status Open(const ImageSpec& spec);

  AddressFacts Find(FileOffset offset);
  CodeBytes CodeAt(FileOffset offset, uint64_t size) const;
  // Empty: no dump was read.
  const std::optional<JitDump>& dump() const { return dump_; }

 private:
  void AddInlinedCalls(const JitDump::Function& function, const JitDump::Place& place,
                       AddressFacts& facts);

  FactsContext& context_;
  Reason reason_ = Reason::kNoImageFile;
  std::optional<JitDump> dump_;
};

}  // namespace profiler::symbolize

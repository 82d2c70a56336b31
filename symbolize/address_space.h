// Which image is mapped where, for each process, as mappings come and go in time order.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

struct Mapping {
  RuntimeAddress start;
  uint64_t size = 0;
  FileOffset offset;  // of `start` in the image
  ImageId image{};
};

// The mappings of one process, or the kernel's. A new mapping cuts or replaces what it overlaps.
class AddressSpace {
 public:
  void Map(const Mapping& mapping);
  void Unmap(RuntimeAddress start, uint64_t size);
  void Clear();
  // The mapping that holds `address`, null where there is none; valid until the next change. O(log
  // n).
  const Mapping* Find(RuntimeAddress address) const;
  // Changes with every Map, Unmap and Clear that altered something: a cache of look-ups is good as
  // long as it stands. Distinct over all address spaces of the program run, except that a fork
  // shares its parent's.
  uint64_t generation() const { return generation_; }
  const std::vector<Mapping>& mappings() const { return mappings_; }

 private:
  void Cut(RuntimeAddress start, uint64_t size);

  std::vector<Mapping> mappings_;  // by start, disjoint
  uint64_t generation_ = 0;
};

// All processes. fork copies, exec clears, exit keeps (late samples) until the pid is used again.
class AddressSpaces {
 public:
  AddressSpace& Process(uint32_t pid);  // created empty when new
  AddressSpace& Kernel() { return kernel_; }
  void Fork(uint32_t parent, uint32_t child);
  void Exec(uint32_t pid);
  void Exit(uint32_t pid);

 private:
  absl::flat_hash_map<uint32_t, std::unique_ptr<AddressSpace>> processes_;
  AddressSpace kernel_;
};

}  // namespace profiler::symbolize

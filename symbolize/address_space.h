// Knows which image is mapped at which address of each process, while mappings come and go in time
// order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "src/base/address.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// A mapping of `size` bytes at `start`. If `size` reaches beyond the address space, the mapping
// ends at the last byte of the address space.
struct Mapping {
  RuntimeAddress start;
  uint64_t size = 0;
  CodePlace place;  // position in the image that is mapped at `start`
  ImageId image{};

  bool operator==(const Mapping&) const = default;
};

// The mappings of one process, or the kernel's. A new mapping cuts or replaces older mappings that
// it overlaps:
//
//   before   |------- A --------|     |--- B ---|
//   Map            |------- C --------|
//   after    |- A -|------- C --------|--- B ---|
//
// A process has at most kMostMappings mappings, the kernel's default limit (vm.max_map_count).
// Recordings contain no munmap events, so the table of a process that keeps mapping new addresses
// would grow without bound. Mappings beyond the limit are ignored.
//
// Copies share one table until one of them changes, so a fork costs a few words. Not thread-safe;
// all copies of one address space must stay on one thread.
class AddressSpace {
 public:
  static constexpr size_t kMostMappings = 65536;

  // Adds a mapping. Does nothing if `size` is 0 or if the same bytes of the same image are already
  // mapped there.
  void Map(const Mapping& mapping);
  // Removes [start, start + size). Mappings that are partly inside are shortened or split in two.
  void Unmap(RuntimeAddress start, uint64_t size);
  void Clear();

  // Returns the mapping that contains `address`, or null. The pointer is valid until this address
  // space changes. O(log n).
  const Mapping* Find(RuntimeAddress address) const;

  // Returns a number that changes whenever Map, Unmap or Clear alters the mappings; a cache of
  // look-ups is valid while the number is unchanged. Numbers are unique within the program run,
  // with two exceptions: a forked address space shares its parent's number, and the number is 0
  // until the first mapping.
  uint64_t generation() const { return generation_; }

  struct ByEnd {
    using is_transparent = void;
    static uint64_t Last(const Mapping& mapping) {
      const uint64_t last = mapping.start.value + (mapping.size - 1);
      return last < mapping.start.value ? UINT64_MAX : last;
    }
    static uint64_t Last(uint64_t address) { return address; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Last(a) < Last(b);
    }
  };
  using Table = absl::btree_set<Mapping, ByEnd>;

  // Returns the mappings, sorted by start address; they do not overlap. Valid until the next
  // change.
  const Table& mappings() const { return table_ == nullptr ? Empty() : *table_; }

 private:
  static const Table& Empty();

  // Removes [start, last] from the table. Returns true if anything was there.
  bool Cut(uint64_t start, uint64_t last);
  // Returns the table, after copying it if it is shared.
  Table& Own();

  std::shared_ptr<Table> table_;  // null: empty
  uint64_t generation_ = 0;
};

// The address spaces of all processes and of the kernel. Fork copies mappings, Exec removes them.
// The mappings of a process that exited stay for late samples, until its pid is used again.
//
// While a process executes another program, the user registers in its samples are older than its
// mappings:
//
//   kernel     old image gone   Exec   new image mapped   new registers
//   registers  old ················································│ new
//
// Therefore the old mappings are kept after Exec, for samples in the kernel whose user address lies
// in them. The first sample with registers of the new image ends this state.
class AddressSpaces {
 public:
  // Returns the address space of a process, created empty if it is new. The reference is valid as
  // long as this object.
  AddressSpace& Process(uint32_t pid);
  AddressSpace& Kernel() { return kernel_; }
  // Copies the parent's mappings to the child. Does nothing if both are the same process, because
  // then only a thread was created.
  void Fork(uint32_t parent, uint32_t child);
  void Exec(uint32_t pid);
  // Returns true if an Exec was recorded and no sample of the new image has come yet.
  bool IsExecuting(uint32_t pid) const { return !execs_.empty() && execs_.contains(pid); }
  // Returns the address space in which to look up the user part of a sample, for a process that
  // IsExecuting. `user_ip` is the sample's innermost user address, if it has one. The result is
  // either the old mappings, from before the Exec, or the current ones. If old and current mappings
  // have different code at `user_ip` and no sample has shown which is right, the result has no
  // mappings. Valid until the next Exec or DuringExec.
  const AddressSpace& DuringExec(uint32_t pid, bool in_user_code,
                                 std::optional<RuntimeAddress> user_ip);
  // Returns, for each ImageId below `images`, true if any process or the kernel has it mapped.
  // Linear in the number of mappings.
  std::vector<bool> MappedImages(size_t images) const;
  // Removes a process that can have no more samples. References to its AddressSpace become invalid.
  void Forget(uint32_t pid) {
    processes_.erase(pid);
    execs_.erase(pid);
  }

 private:
  struct ExecInProgress {
    AddressSpace before;
    // User address of all samples since the Exec: the instruction that made the execve system call.
    std::optional<RuntimeAddress> user_ip;
    // True once a sample proved that `user_ip` belongs to `before`.
    bool is_old = false;
  };

  absl::flat_hash_map<uint32_t, std::unique_ptr<AddressSpace>> processes_;
  absl::node_hash_map<uint32_t, ExecInProgress> execs_;
  AddressSpace kernel_;
  const AddressSpace nowhere_{};
};

}  // namespace profiler::symbolize

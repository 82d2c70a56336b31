// Which image is mapped where, for each process, as mappings come and go in time order.

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

// `size` bytes from `start`. A mapping that would run past the end of the address space ends there.
struct Mapping {
  RuntimeAddress start;
  uint64_t size = 0;
  CodePlace place;  // of `start` in the image
  ImageId image{};

  bool operator==(const Mapping&) const = default;
};

// The mappings of one process, or the kernel's. A new mapping cuts or replaces what it overlaps:
//
//   before   |------- A --------|     |--- B ---|
//   Map            |------- C --------|
//   after    |- A -|------- C --------|--- B ---|
//
// A process has kMostMappings at most, as many as the kernel gives it unless it is told otherwise
// (vm.max_map_count). Recordings do not say what was unmapped, so one that maps here and there for
// ever would have more and more: what comes then is not mapped.
//
// Copies share one table until one of them changes, so a fork costs a few words. Not thread-safe,
// and copies of one another must stay on one thread.
class AddressSpace {
 public:
  static constexpr size_t kMostMappings = 65536;

  // Does nothing when `size` is 0, or when the same bytes of the same image are there already.
  void Map(const Mapping& mapping);
  // What is only partly inside [start, start + size) is cut, or split in two.
  void Unmap(RuntimeAddress start, uint64_t size);
  void Clear();

  // The mapping that holds `address`, null where there is none; valid until the next change of this
  // address space. O(log n).
  const Mapping* Find(RuntimeAddress address) const;

  // Changes with every Map, Unmap and Clear that altered something: a cache of look-ups is good as
  // long as it stands. Distinct over all address spaces of the program run, except that a fork
  // shares its parent's, and that it is 0 as long as nothing was ever mapped.
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

  // By start, disjoint; valid until the next change.
  const Table& mappings() const { return table_ == nullptr ? Empty() : *table_; }

 private:
  static const Table& Empty();

  // Takes [start, last] out of the table; true when something was there.
  bool Cut(uint64_t start, uint64_t last);
  Table& Own();  // the table, unshared

  std::shared_ptr<Table> table_;  // null: empty
  uint64_t generation_ = 0;
};

// All processes. fork copies, exec clears, exit keeps (late samples) until the pid is used again.
//
// While a process executes another program its samples lag behind its mappings:
//
//   kernel     old image gone   Exec   new image mapped   new registers
//   registers  old ················································│ new
//
// so what it had is kept from Exec on, for samples in the kernel whose user address lies there. The
// first one that is of the new image ends that.
class AddressSpaces {
 public:
  // Created empty when new. The reference is good as long as this object.
  AddressSpace& Process(uint32_t pid);
  AddressSpace& Kernel() { return kernel_; }
  // Does nothing when both are one process: a new thread.
  void Fork(uint32_t parent, uint32_t child);
  void Exec(uint32_t pid);
  // Whether no sample of the new image was met since an Exec.
  bool IsExecuting(uint32_t pid) const { return !execs_.empty() && execs_.contains(pid); }
  // Where the user part of a sample is to be looked for, of a process that IsExecuting: `user_ip`
  // is its innermost user address, if it has any. What the process had before the Exec, what it has
  // now, or a space without mappings where both have something there and nothing tells which. Valid
  // until the next Exec or DuringExec.
  const AddressSpace& DuringExec(uint32_t pid, bool in_user_code,
                                 std::optional<RuntimeAddress> user_ip);
  // Whether each image below `images` is mapped somewhere, by ImageId. Linear in all mappings.
  std::vector<bool> MappedImages(size_t images) const;
  // Drops a process of which no sample can come any more; its AddressSpace is gone.
  void Forget(uint32_t pid) {
    processes_.erase(pid);
    execs_.erase(pid);
  }

 private:
  struct ExecInProgress {
    AddressSpace before;
    std::optional<RuntimeAddress> user_ip;  // of the samples so far: the exec's system call
    bool is_old = false;                    // that address is known to be of `before`
  };

  absl::flat_hash_map<uint32_t, std::unique_ptr<AddressSpace>> processes_;
  absl::node_hash_map<uint32_t, ExecInProgress> execs_;
  AddressSpace kernel_;
  const AddressSpace nowhere_{};
};

}  // namespace profiler::symbolize

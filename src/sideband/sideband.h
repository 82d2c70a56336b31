// Follows which process has mapped what, as the records beside the samples tell it: one tracker for
// a recording that is made and for one that is read.
//
//   MMAP, MMAP2   ──▶ what is mapped in a process, the kernel included
//   COMM (exec)   ──▶ what was mapped is gone
//   FORK          ──▶ a child has what its parent had
//   EXIT
//   KSYMBOL       ──▶ code of BPF programs and the like
//
// A program may copy its own text to memory without a file and put that in the text's place, to
// have it in huge pages (libhugetlbfs, node --use-largepages, HHVM):
//
//   before   |---------- /usr/bin/program ----------|
//   MMAP2           |----- //anon -----|
//   after    |---------- /usr/bin/program ----------|
//
// The code is still that of the file, so the mapping stays. That is said of the program alone,
// which cannot be unloaded: where a library was, its process may have mapped whatever it likes.
//
// What an image, or a thread's name, is to whoever follows is theirs to say (SidebandUser).

#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/codec.h"
#include "symbolize/address_space.h"

namespace profiler::sideband {

// Is told of each record after the address spaces were changed by it, but for UserMapping, which
// says how they are to be changed.
class SidebandUser {
 public:
  // What is to be mapped where a process maps user code of this kind, never kJitDump.
  virtual symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap,
                                         symbolize::ImageKind kind) = 0;
  // True if a file with another name than jit-PID.dump is the dump of a JIT compiler.
  virtual bool IsJitDump(const perf_event::Mmap2& /*mmap*/) { return false; }
  // A process says where the dump of its JIT compiler is.
  virtual void FoundJitDump(const perf_event::Mmap2& /*mmap*/) {}
  // Memory without a file became executable: it was mapped, or mprotect(2) made it so.
  virtual void MappedMemory(const perf_event::Mmap2& /*mmap*/) {}
  // A process maps data, which are in no address space here (recordings with data addresses).
  virtual void MappedData(const perf_event::Mmap2& /*mmap*/, symbolize::ImageKind /*kind*/) {}
  // Of the kernel itself or of a module. The user maps it.
  virtual void FoundKernelCode(const perf_event::Mmap2& /*mmap*/) {}
  virtual void FoundKernelSymbol(const perf_event::Ksymbol& /*symbol*/) {}
  virtual void Named(const perf_event::Comm& /*comm*/, bool /*by_exec*/) {}
  virtual void Forked(const perf_event::Task& /*task*/) {}
  virtual void Ended(const perf_event::Task& /*task*/) {}

 protected:
  ~SidebandUser() = default;
};

// Not thread-safe. `user` must outlive it. Allocates for mappings alone.
class Sideband {
 public:
  explicit Sideband(SidebandUser& user) : user_(user) {}

  enum class Result {
    kTaken,
    kTooShort,  // for its layout; nothing was done
    kOther      // of a type that says nothing of threads and mappings
  };
  // A record in time order.
  Result Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  symbolize::AddressSpaces& spaces() { return spaces_; }
  const symbolize::AddressSpaces& spaces() const { return spaces_; }

 private:
  void Fork(const perf_event::Task& task);
  void Map(uint16_t misc, const perf_event::Mmap2& mmap);
  bool IsWithinProgram(const perf_event::Mmap2& mmap, const symbolize::AddressSpace& process) const;

  SidebandUser& user_;
  symbolize::AddressSpaces spaces_;
  // Of processes: the file that was mapped first. The kernel maps the program before its
  // interpreter, and programs lie below libraries.
  absl::flat_hash_map<uint32_t, symbolize::ImageId> programs_;
};

}  // namespace profiler::sideband

// Follows the mappings of all processes from the records that accompany samples, both while
// recording and while reading a recording.
//
//   MMAP, MMAP2   ──▶ adds a mapping to a process or to the kernel
//   COMM (exec)   ──▶ drops the process's mappings
//   FORK          ──▶ copies the parent's mappings to the child
//   EXIT          ──▶ keeps the mappings, because samples may come later
//   KSYMBOL       ──▶ code of BPF programs and the like
//
// Some programs want their text in huge pages (libhugetlbfs, node --use-largepages, HHVM). Such a
// program copies its text to memory without a file, and maps this memory in place of the text:
//
//   before   |---------- /usr/bin/program ----------|
//   MMAP2           |----- //anon -----|
//   after    |---------- /usr/bin/program ----------|
//
// The code is still the code of the file, so the file's mapping stays. This applies only to the
// program itself, which cannot be unloaded. In the range of a library, the process may have mapped
// other code after it unloaded the library.
//
// A SidebandUser defines what an image is, and keeps the names of threads.

#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/codec.h"
#include "symbolize/address_space.h"

namespace profiler::sideband {

// Callbacks for records. Each is called after the record has changed the address spaces, except
// UserMapping, which determines the change.
class SidebandUser {
 public:
  // Returns the mapping to add to a process for this user code. `kind` is never kJitDump.
  virtual symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap,
                                         symbolize::ImageKind kind) = 0;
  // Returns true if this file is the dump of a JIT compiler, although its name is not jit-PID.dump.
  virtual bool IsJitDump(const perf_event::Mmap2& /*mmap*/) { return false; }
  // Called for a mapping whose file is the dump of the process's JIT compiler.
  virtual void FoundJitDump(const perf_event::Mmap2& /*mmap*/) {}
  // Called if memory without a file became executable, by mmap(2) or mprotect(2).
  virtual void MappedMemory(const perf_event::Mmap2& /*mmap*/) {}
  // Called for a mapping of data, in recordings with data addresses. spaces() does not contain such
  // mappings.
  virtual void MappedData(const perf_event::Mmap2& /*mmap*/, symbolize::ImageKind /*kind*/) {}
  // Called for code of the kernel itself or of a module. The callee adds the mapping.
  virtual void FoundKernelCode(const perf_event::Mmap2& /*mmap*/) {}
  virtual void FoundKernelSymbol(const perf_event::Ksymbol& /*symbol*/) {}
  virtual void Named(const perf_event::Comm& /*comm*/, bool /*by_exec*/) {}
  virtual void Forked(const perf_event::Task& /*task*/) {}
  virtual void Ended(const perf_event::Task& /*task*/) {}

 protected:
  ~SidebandUser() = default;
};

// A tracker. Not thread-safe. `user` must outlive it. Allocates only for mappings.
class Sideband {
 public:
  explicit Sideband(SidebandUser& user) : user_(user) {}

  enum class Result {
    kTaken,
    kTooShort,  // the record is too short for its layout and was ignored
    kOther      // the type does not concern threads and mappings
  };
  // Takes a record. Records must come in time order.
  Result Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  symbolize::AddressSpaces& spaces() { return spaces_; }
  const symbolize::AddressSpaces& spaces() const { return spaces_; }

 private:
  void Fork(const perf_event::Task& task);
  void Map(uint16_t misc, const perf_event::Mmap2& mmap);
  bool IsWithinProgram(const perf_event::Mmap2& mmap, const symbolize::AddressSpace& process) const;

  SidebandUser& user_;
  symbolize::AddressSpaces spaces_;
  // The program of each process: the file that was mapped first. The kernel maps the program before
  // its interpreter, and programs have lower addresses than libraries.
  absl::flat_hash_map<uint32_t, symbolize::ImageId> programs_;
};

}  // namespace profiler::sideband

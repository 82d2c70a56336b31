// The Python interpreters of recorded processes. Each is recognised when its image is mapped. From
// then on, the program in the kernel walks its frames at each sample (src/record/bpf), and the
// walked frames get addresses and names here.
//
//   MMAP2 of python3 ──▶ PythonImage ──▶ Interpreter ──▶ Walker::Walk: the kernel walks from now on
//   PythonCopy ──▶ code objects ──▶ CodeDumps: names, files and lines
//   PythonStack ──▶ Stack ──▶ joined with the C stack (join.h)
//
// A function's frames are listed with addresses that no process uses, from kFirstAddress on: each
// code object has a range, with one address per byte of its instructions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/records.h"
#include "src/machine/reader/readers.h"
#include "src/record/code_dumps.h"
#include "src/record/python/counts.h"
#include "src/record/python/join.h"
#include "symbolize/python/python_process.h"
#include "symbolize/symbolizer.h"

namespace profiler::record::python {

// The part of the kernel that walks frames.
class Walker {
 public:
  virtual ~Walker() = default;
  // Called when an image with an interpreter is met, before it can be walked.
  virtual void Prepare() = 0;
  // Walks the frames of the process from now on. Records carry `generation`. Returns false if that
  // is not possible here.
  virtual bool Walk(uint32_t pid, const symbolize::python::WalkLayout& layout,
                    uint32_t generation) = 0;
  virtual void Leave(uint32_t pid) = 0;
};

// True if this may be the path of a Python interpreter or of its library.
bool MayBePython(std::string_view path);

// All interpreters. Use it from one thread, with records in time order.
class Processes {
 public:
  static constexpr uint64_t kFirstAddress = uint64_t{1} << 48;

  // `files` says where image files are looked for. All arguments must outlive this object.
  Processes(const symbolize::SymbolizerOptions& files, CodeDumps& dumps, reader::Readers& readers);
  ~Processes();

  // Sets who walks, before anything is mapped. Null: nobody; then no image is examined.
  void SetWalker(Walker* walker) { walker_ = walker; }

  // Takes the mapping of an image that a process has made.
  void Mapped(const perf_event::Mmap2& mmap);
  // Notes that `child` began with the memory of `parent`.
  void Forked(uint32_t parent, uint32_t child);
  // Forgets the process, because it executes another program or its pid is reused.
  void Forget(uint32_t pid);
  // Notes that the process has ended. Names of its frames are still known.
  void Ended(uint32_t pid);
  // Begins a new pass: looks at processes again whose interpreter was starting.
  void Refresh();

  // Takes a copy of a code object (IsCopy), which the kernel wrote before the first stack that has
  // it. Copies for another program than the process executes are left out.
  void TakeCopy(uint32_t pid, std::span<const std::byte> record);

  // Replaces the calls of the evaluation loop in a chain by the Python frames of `record`, the raw
  // data that the kernel wrote before the sample; empty: none. Returns nothing if the process runs
  // no Python. The chain is valid until the next call.
  struct Result {
    std::span<const uint64_t> chain;
    bool is_leaf_python = false;
  };
  std::optional<Result> Join(uint32_t pid, uint64_t time, std::span<const std::byte> record,
                             const symbolize::UnwoundChain& chain,
                             const symbolize::RegisterSet& registers);

  const Counts& counts() const { return counts_; }
  void BeginFile() { counts_ = {}; }

 private:
  class Process;
  struct Image {
    symbolize::python::PythonImage python;
    ElfAddress start;  // address of the mapped offset
  };

  std::shared_ptr<const Image> ImageOf(const perf_event::Mmap2& mmap);
  void Try(Process& process);
  void Begin(Process& process);
  // Reads a record into stack_. Returns false if it says nothing about the present program.
  bool ReadStack(Process& process, std::span<const std::byte> record);

  const symbolize::SymbolizerOptions& files_;
  CodeDumps& dumps_;
  reader::Readers& readers_;
  Walker* walker_ = nullptr;
  uint32_t last_generation_ = 0;
  uint64_t passes_ = 0;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  std::vector<uint32_t> starting_;  // pids of processes whose interpreter is not recognised yet
  // Images that were examined, keyed by path, build-id and mapped offset. Null: no CPython.
  absl::flat_hash_map<std::tuple<std::string, std::string, uint64_t>, std::shared_ptr<const Image>>
      images_;
  Counts counts_;
  Stack stack_;
  std::vector<uint64_t> joined_;
};

}  // namespace profiler::record::python

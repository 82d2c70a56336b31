// Lets the kernel walk Python's frames at each sample of a recording's events. Loads the programs when
// the first interpreter is met, and says what prevents it.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/record/python/processes.h"
#include "src/record/sample_gate.h"

namespace profiler::record::python {

struct KernelWalkerOptions {
  bool is_root = false;         // procfs::IsRoot
  bool may_load = false;        // True if this program has CAP_BPF and CAP_PERFMON, without root.
  bool is_locked_down = false;  // True if lockdown forbids programs that read memory.
};

class KernelWalker final : public Walker {
 public:
  // `gate` must outlive this object.
  KernelWalker(SampleGate& gate, const KernelWalkerOptions& options)
      : gate_(gate), options_(options) {}

  void Prepare() override;
  bool Walk(uint32_t pid, const symbolize::python::WalkLayout& layout,
            uint32_t generation) override;
  void Leave(uint32_t pid) override;

  // Returns why the frames of an interpreter that was met are not walked, as a line for the user;
  // empty if they are, or if none was met.
  std::string Problem() const;

 private:
  absl::Status Load();

  SampleGate& gate_;
  const KernelWalkerOptions options_;
  bool is_walking_ = false;
  bool was_met_ = false;  // True if an interpreter was met.
  absl::Status failure_;
};

}  // namespace profiler::record::python

// Lets the kernel read large stacks at each sample of a recording's events. Loads the program when the
// first thread is followed. If that is impossible, chains on large stacks are cut.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/record/sample_gate.h"
#include "src/record/stacks/deep_threads.h"

namespace profiler::record {

class KernelFollower final : public StackFollower {
 public:
  // `gate` must outlive this object.
  explicit KernelFollower(SampleGate& gate) : gate_(gate) {}

  bool Follow(uint32_t tid, const FollowedThread& thread) override;
  void Leave(uint32_t tid) override;

 private:
  absl::Status Load();

  SampleGate& gate_;
  bool is_loaded_ = false;
  absl::Status failure_;
};

}  // namespace profiler::record

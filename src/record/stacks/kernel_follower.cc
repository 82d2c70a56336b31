#include "src/record/stacks/kernel_follower.h"

namespace profiler::record {

absl::Status KernelFollower::Load() {
  PROFILER_ASSIGN_OR_RETURN(const auto outputs, gate_.Outputs());
  return gate_.programs().LoadStack(outputs);
}

bool KernelFollower::Follow(uint32_t tid, const FollowedThread& thread) {
  if (!is_loaded_ && failure_.ok()) {
    failure_ = Load();
    is_loaded_ = failure_.ok();
  }
  return is_loaded_ && gate_.programs().Follow(tid, thread).ok();
}

void KernelFollower::Leave(uint32_t tid) {
  if (is_loaded_) gate_.programs().Leave(tid);
}

}  // namespace profiler::record

#include "src/profile/image_shares.h"

#include <cstdint>

namespace profiler::profile {
namespace {

// True if no caller of `stack` is code of the same image.
bool IsOutermostOfImage(const Profile& profile, const StackNode& stack) {
  const ImageId image = profile[stack.frame].image;
  for (StackId at = stack.parent; at != kNoStack; at = profile[at].parent) {
    if (profile[profile[at].frame].image == image) return false;
  }
  return true;
}

}  // namespace

std::vector<double> SharesByImage(const Profile& profile) {
  std::vector<double> shares(profile.images.size());
  std::vector<uint64_t> samples(profile.stacks.size());  // samples that include the node
  uint64_t total = 0;
  for (const Row& row : profile.rows) {
    total += row.count;
    samples[static_cast<uint32_t>(row.stack)] += row.count;
  }
  if (total == 0) return shares;
  // A caller's node precedes those of its callees.
  for (size_t i = profile.stacks.size(); i-- > 0;) {
    const StackNode& stack = profile.stacks[i];
    if (stack.parent != kNoStack) samples[static_cast<uint32_t>(stack.parent)] += samples[i];
    if (samples[i] != 0 && IsOutermostOfImage(profile, stack)) {
      shares[static_cast<uint32_t>(profile[stack.frame].image)] += static_cast<double>(samples[i]);
    }
  }
  for (double& share : shares) share /= static_cast<double>(total);
  return shares;
}

}  // namespace profiler::profile

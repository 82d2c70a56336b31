#include "src/profile/inlined_calls.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::profile {
namespace {

// Copies of frames without their inlined calls.
class FramesWithoutInlinedCalls {
 public:
  explicit FramesWithoutInlinedCalls(Profile& profile) : profile_(profile) {}

  FrameId Of(FrameId id) {
    const auto [known, is_new] =
        made_.try_emplace(id, FrameId{static_cast<uint32_t>(profile_.frames.size())});
    if (is_new) {
      Frame frame = profile_[id];
      frame.first_line += frame.line_count - 1;
      frame.line_count = 1;
      profile_.frames.push_back(frame);
    }
    return known->second;
  }

 private:
  Profile& profile_;
  absl::flat_hash_map<FrameId, FrameId> made_;
};

// Returns the number of samples with a changed stack. A stack is also changed if the stack of its
// callers is changed.
uint64_t SamplesIn(const Profile& profile, const std::vector<bool>& changed) {
  uint64_t samples = 0;
  for (const Row& row : profile.rows) {
    if (changed[static_cast<uint32_t>(row.stack)]) samples += row.count;
  }
  return samples;
}

}  // namespace

std::string InlinedCallsAreLeftOut(std::string_view chains) {
  return absl::StrCat("inlined calls are left out of ", View(chains), " more of them than ",
                      kInlinedCallsPerFrame, " a frame and ", kInlinedCallsOfAnyStack, " in all");
}

void BoundInlinedCalls(Profile& profile) {
  if (std::none_of(profile.frames.begin(), profile.frames.end(), [](const Frame& frame) {
        return InlinedCallsAt(frame) > kInlinedCallsPerFrame;
      })) {
    return;
  }
  FramesWithoutInlinedCalls frames(profile);
  auto calls = HugeVector<uint64_t>::Zeros(profile.stacks.size());  // calls in the whole stack
  std::vector<bool> changed(profile.stacks.size());
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    StackNode& stack = profile.stacks[i];
    const bool has_caller = stack.parent != kNoStack;  // the caller's index is lower than i
    if (has_caller) {
      calls[i] = calls[static_cast<uint32_t>(stack.parent)];
      changed[i] = changed[static_cast<uint32_t>(stack.parent)];
    }
    const uint32_t here = InlinedCallsAt(profile[stack.frame]);
    if (calls[i] + here <= MostInlinedCalls(stack.depth)) {
      calls[i] += here;
    } else {
      stack.frame = frames.Of(stack.frame);
      changed[i] = true;
    }
  }
  if (const uint64_t samples = SamplesIn(profile, changed); samples != 0) {
    profile.losses.warnings.push_back(InlinedCallsAreLeftOut(
        absl::StrCat("the call chains of ", samples,
                     samples == 1 ? " sample, which has" : " samples, which have")));
  }
}

}  // namespace profiler::profile

#include "src/profile/broken_chains.h"

#include <cstdint>
#include <vector>

namespace profiler::profile {

void CountBrokenChains(Profile* profile) {
  struct Callers {
    bool any = false;
    bool unmapped = false;
  };
  std::vector<Callers> callers(profile->stacks.size());  // facts about the nodes up to the root
  for (size_t i = 0; i < callers.size(); ++i) {
    const StackNode& stack = profile->stacks[i];
    // A caller's node precedes those of its callees.
    if (stack.parent != kNoStack) callers[i] = callers[static_cast<uint32_t>(stack.parent)];
    const Frame& frame = (*profile)[stack.frame];
    // Unwound chains have no return addresses: their callers are listed as the calls themselves.
    if (frame.mode != Mode::kUser || !frame.return_address) continue;
    callers[i].any = true;
    if (frame.unnamed == Unnamed::kNoMapping) callers[i].unmapped = true;
  }
  profile->chains.by_kernel = profile->chains.broken = 0;
  for (const Row& row : profile->rows) {
    const Callers& found = callers[static_cast<uint32_t>(row.stack)];
    if (found.any) profile->chains.by_kernel += row.count;
    if (found.unmapped) profile->chains.broken += row.count;
  }
}

}  // namespace profiler::profile

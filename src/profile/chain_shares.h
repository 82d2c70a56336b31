// Computes how much of each event's weight has complete call chains.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// The weight (sum of periods) of an event's samples with an unwound user call chain, separately for
// complete and for cut chains. Samples without a user part, or whose user stack is gone, are in
// neither sum.
struct ChainShares {
  struct Cut {
    std::string_view reason;  // name of the frame, such as "[cut: stack too short]"
    std::string_view image;   // image of the outermost caller; empty if there is none
    uint64_t weight = 0;
  };

  EventId event{};
  uint64_t whole = 0, cut = 0;
  std::vector<Cut> cuts;  // the heaviest first; their weights add up to `cut`

  double whole_part() const {
    return static_cast<double>(whole) / static_cast<double>(whole + cut);
  }
};

// Returns the shares of each event with unwound chains, in the order of the events. Computes them
// from the present rows of `profile`. Empty if no chains were unwound, or if the recording counts
// cut chains but does not mark them, as earlier versions did. The texts belong to the profile.
// Costs a pass over the stacks and the rows. Thread-safe.
std::vector<ChainShares> SharesOfChains(const Profile& profile);

}  // namespace profiler::profile

// How much of each event's weight has whole call chains.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// The weight (sum of periods) of an event's samples whose user call chain was unwound. Samples that
// have no user part, or no user stack any more, are in neither sum.
struct ChainShares {
  struct Cut {
    std::string_view reason;  // as the frame is called, such as "[cut: stack too short]"
    std::string_view image;   // of the outermost caller; empty if there is none
    uint64_t weight = 0;
  };

  EventId event{};
  uint64_t whole = 0, cut = 0;
  std::vector<Cut> cuts;  // the heaviest first; their sum is `cut`

  double whole_part() const {
    return static_cast<double>(whole) / static_cast<double>(whole + cut);
  }
};

// Returns the shares of each event that has any, in the order of the events, of the rows that
// `profile` has now. Empty if no chains were unwound, or if the recording counts cut chains but
// does not mark them, as those of earlier versions. The texts are the profile's. Cost: a pass over
// the stacks and the rows. Thread-safe.
std::vector<ChainShares> SharesOfChains(const Profile& profile);

}  // namespace profiler::profile

// Sums up the time that threads were blocked, by the kind of event that they waited for.

#pragma once

#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/summary/own_code.h"

namespace profiler::summary {

// The time in which threads waited for one kind of event.
struct Wait {
  std::string kind;  // "a lock or a condition"; "something else" if no function of the stack tells
  std::string function;  // function of most of this time that tells: "futex_wait"; or the innermost
  std::string in;        // innermost own function of most of this time; empty: none has a name
  double amount = 0;     // in ns
};

struct Waits {
  std::vector<Wait> kinds;  // the longest first
  double amount = 0;        // sum in ns; 0: no waiting time was recorded
};

// Finds the waiting time of a profile, in rows of offcpu-time and in rows of wall-clock that end in
// "[blocked]". Rows of other events do not matter. Linear in rows and the depth of their stacks.
Waits FindWaits(const profile::Profile& profile, const OwnCode& own);

// True if the frame stands for the state of a thread that does not run, instead of for code.
bool IsState(const profile::Profile& profile, profile::FrameId frame);

}  // namespace profiler::summary

// The value that `doctor` computes and prints: one finding per subject, with remedies.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/machine/target/refusal.h"

namespace profiler::doctor {

enum class State {
  kWorks,
  kLimited,  // works, but not for everything
  kMissing,
  kUnknown,  // cannot be found out here
};

// One subject. Texts may contain control characters of untrusted names; printers escape them.
struct Finding {
  std::string id;    // key in JSON: "kernel-code"
  std::string name;  // "kernel code"
  State state = State::kWorks;
  std::string text;  // a clause: details, or the cause if it does not work; may be empty
  // Ways to lift the limit, the narrowest first.
  std::vector<target::Remedy> remedies;
};

struct FindingGroup {
  std::string title;  // "Recording"
  std::vector<Finding> findings;
};

// Returns true if the subject with this id works without a limit.
inline bool IsWorking(const std::vector<FindingGroup>& groups, std::string_view id) {
  for (const FindingGroup& group : groups) {
    for (const Finding& finding : group.findings) {
      if (finding.id == id) return finding.state == State::kWorks;
    }
  }
  return false;
}

}  // namespace profiler::doctor

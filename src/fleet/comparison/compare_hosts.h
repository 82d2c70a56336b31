// Finds functions that take more or less on the hosts of one group than on those of another. A host
// is a Run, named after the host.
//
// Unlike runs of one program, hosts differ, and a change may affect only some of them. A fleet's
// users also ask where CPU time goes from one release to the next. If one function takes more, the
// shares of all others shrink, which is of no interest. So changes are relative to the whole before
// the change (src/fleet/comparison/host_scale.h, host_change.h).

#pragma once

#include <cstddef>
#include <span>

#include "src/views/diff/compare.h"

namespace profiler::fleet {

struct HostDiff {
  diff::Diff diff;
  // Number of hosts that were compared with themselves. Hosts are paired if at least half of each
  // group, and at least two, are in both groups. 0: one group was compared with the other.
  size_t pairs = 0;
  // Number of hosts without a partner, which were left out; 0 if hosts are not paired.
  size_t left_out = 0;
};

// Compares two groups of at least one host with samples each; ignores hosts without samples. Leaves
// out rows with fewer than two samples per host on average. Time: linear in functions times hosts.
// Memory: 8 bytes for each of these.
HostDiff CompareHosts(std::span<const diff::Run> before, std::span<const diff::Run> after,
                      const diff::CompareOptions& options);

}  // namespace profiler::fleet

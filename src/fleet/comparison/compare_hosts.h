// Finds functions that take more or less time on the hosts of one group than on the hosts of
// another group. Each host is a Run with the host's name.
//
// Unlike runs of one program, hosts differ, and a change may affect only some of them. Users
// compare releases by the CPU time of each function. If one function takes more time, the shares of
// all others shrink, although they did not change. So changes are relative to the whole before the
// change (src/fleet/comparison/host_scale.h, host_change.h).

#pragma once

#include <cstddef>
#include <span>

#include "src/views/diff/compare.h"

namespace profiler::fleet {

struct HostDiff {
  diff::Diff diff;
  // Number of hosts that were compared with themselves; 0 if one group was compared with the other.
  // Hosts are paired if at least two hosts, and at least half of each group, are in both groups.
  size_t pairs = 0;
  // Number of hosts without a partner, which were left out; 0 if hosts are not paired.
  size_t left_out = 0;
};

// Compares two groups of at least one host with samples each; ignores hosts without samples. Leaves
// out rows with fewer than two samples per host on average. Time: linear in functions times hosts.
// Memory: 8 bytes for each function on each host.
HostDiff CompareHosts(std::span<const diff::Run> before, std::span<const diff::Run> after,
                      const diff::CompareOptions& options);

}  // namespace profiler::fleet

// Which functions take more or less on the machines of one group than on those of another, by more
// than chance. A machine is a Run, by the name of the host.
//
// Unlike runs of one program, hosts are not alike, and a change may be on some of them alone. And
// what is asked of a fleet is where its CPUs' time goes from one release to the next: where one
// function takes more, all others have less of the whole, of which nobody wants to hear. So changes
// are in parts of what the whole was before (src/estimate/host_scale.h, host_change.h).

#pragma once

#include <cstddef>
#include <span>

#include "src/diff/compare.h"

namespace profiler::diff {

struct HostDiff {
  Diff diff;
  // How many hosts of both groups were compared, each with itself: where half of either group is in
  // both, and two at least. The others are left out then. 0: group was compared with group.
  size_t pairs = 0;
  size_t left_out = 0;
};

// At least one host with samples each; others do not count. Rows with too few samples to tell
// anything, under two a host on average, are left out. Linear in functions times hosts, of which 8
// bytes are kept each.
HostDiff CompareHosts(std::span<const Run> before, std::span<const Run> after,
                      const CompareOptions& options);

}  // namespace profiler::diff

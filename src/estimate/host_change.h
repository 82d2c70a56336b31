// Whether functions take more or less on the machines of one group than on those of another: of two
// releases, or of before and after.
//
// Hosts differ. What a host is expected to be off by has a part that its samples explain, so hosts
// with few of them count for less, and one in proportion to the share, alike for all functions. How
// far a function's hosts differ beyond that is drawn together over all functions (run_variance.h).
//
// A change need not be on all hosts. A third of them that are slower differ so much from the others
// that they hide their own change, if they say themselves how much hosts differ. So more than one
// question is asked, and the answer that chance explains worst counts, as often as was asked:
//
//   is the mean another one?            by how far the hosts of both groups differ
//   do hosts of after, one by one, lie  by how far those of before alone differ
//   farther from the mean of before?
//   do hosts of before lie farther      by how far those of after alone do
//   from the mean of after?
//
// The last two are asked without a tenth of each group, the hosts that speak most for a change, and
// none of the others counts for more than six standard errors.
//
// So one odd host is no change, nor is a tenth of them. Where the groups are the same machines, it
// is their differences that are judged, which have nothing of how machines differ:
//
//   is their mean not zero?             by how far all of them differ
//   do they, one by one, lie far from   by how far that half of them does which speaks least for a
//   zero?                               change
//
// Pure; thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/estimate/change.h"
#include "src/estimate/host_scale.h"

namespace profiler::estimate {

struct ComparedHosts {
  OfHosts samples;
  HostScales scales;
  // Host i before is host i after: of all hosts, or none.
  bool are_pairs = false;
};

// By function, of the shares of what functions do themselves, or with all that they call. The
// change is in parts of what the whole was before, of means over hosts; its `chance` is for
// LargestSignificantChance. Of a single host each, how far hosts differ is told by its functions
// alone, and badly. Linear in functions times hosts.
std::vector<Change> HostChangesOf(const ComparedHosts& hosts, std::span<const OfHosts> shares);

// The scales by those functions that are not likely to have changed themselves: a median of few
// functions is moved by one of them. `shares`: of what functions do themselves. Costs up to three
// times what HostChangesOf costs.
HostScales SettledScalesOf(const OfHosts& samples, std::span<const OfHosts> shares, bool are_pairs);

}  // namespace profiler::estimate

// Decides whether functions take more or less time on one group of machines than on another: two
// releases, or before and after.
//
// Hosts differ. The expected error of a host's value has two parts. The first part is the sampling
// error, so hosts with few samples weigh less. The second part is the variation between hosts; it
// is proportional to the function's share, with the same factor for all functions. For some
// functions hosts differ even more. The size of this excess is estimated from all functions
// together (run_variance.h).
//
// A change need not be on all hosts. If a third of the hosts become slower, the variation of their
// group becomes so large that it hides the change. So several tests are made. The smallest p-value
// counts, multiplied by the number of tests:
//
//   is the mean different?             compared with the variation of both groups
//   are single hosts of after far      compared with the variation of before only
//   from the mean of before?
//   are single hosts of before far     compared with the variation of after only
//   from the mean of after?
//
// The last two tests leave out a tenth of each group: the hosts that speak most for a change. No
// other host counts for more than six standard errors. So neither a single odd host nor a tenth of
// the hosts is a change.
//
// If both groups are the same machines, each machine is compared with itself. The differences are
// tested; they do not contain the variation between machines:
//
//   is their mean not zero?            compared with the variation of all differences
//   are single differences not zero?   compared with the variation of the half that speaks least
//                                      for a change
//
// The functions are pure and thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/analysis/estimate/change.h"
#include "src/fleet/comparison/host_scale.h"

namespace profiler::fleet {

struct ComparedHosts {
  OfHosts samples;
  HostScales scales;
  // True if host i of before is host i of after, for all hosts.
  bool are_pairs = false;
};

// Returns the change of each function. `shares` are self shares, or shares including callees. A
// change is the difference of means over hosts, as a fraction of the whole before. Pass its
// `chance` to LargestSignificantChance. If each group has a single host, the variation between
// hosts is roughly estimated from the differences of all functions. Linear in functions times
// hosts.
std::vector<estimate::Change> HostChangesOf(const ComparedHosts& hosts,
                                            std::span<const OfHosts> shares);

// Returns the scales. Uses only functions that have probably not changed, because a changed
// function would move the median if there are few functions. `shares` are self shares. Costs up to
// three times as much as HostChangesOf.
HostScales SettledScalesOf(const OfHosts& samples, std::span<const OfHosts> shares, bool are_pairs);

}  // namespace profiler::fleet

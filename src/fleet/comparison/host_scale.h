// Estimates how much the total work of each host has grown because a few functions changed.
//
// Shares add up to one. If one function takes more, the shares of all others fall, although they
// did not change:
//
//   before  ####  parse 20 %       ################  the rest 80 %
//   after   ########  parse 33 %   ################  the rest 67 %      as much work as before
//
// So each host's shares are divided by its scale: the median ratio of its functions' shares to
// their usual shares. In the example the scale is 67/80. Then the rest has its 80 % again, and
// parse has 40 % of the whole before. Counts of genes, which are also parts of a whole, are
// normalised in the same way (Anders and Huber, "Differential expression analysis for sequence
// count data", 2010).
//
// The functions are pure and thread-safe.

#pragma once

#include <span>
#include <vector>

namespace profiler::fleet {

// One number for each host of two groups.
struct OfHosts {
  std::vector<double> before, after;
};

struct HostScales {
  OfHosts scales;  // their mean over `before` is 1
  OfHosts errors;  // relative variance of each scale
};

// Returns the scales. shares[f] has the self share of function f on each host, from 0 to 1. Ignores
// functions that are marked in `left_out`; if `left_out` is empty, uses all functions. A host on
// which fewer than three functions have 30 samples gets the scale 1, because its samples do not
// show which functions have changed. Hosts must have samples, and each group at least one host.
// Linear in functions times hosts.
HostScales ScalesOf(const OfHosts& samples, std::span<const OfHosts> shares,
                    const std::vector<bool>& left_out = {});

}  // namespace profiler::fleet

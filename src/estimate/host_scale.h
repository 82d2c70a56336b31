// How much longer the whole of each host is than usual, as far as a few functions that changed can
// make it so.
//
// Shares add up to one. Where one function takes more, the shares of all others fall, though
// nothing happened to them:
//
//   before  ####  parse 20 %       ################  the rest 80 %
//   after   ########  parse 33 %   ################  the rest 67 %      as much work as before
//
// So each host's shares are divided by its scale: the median of what its functions have of their
// usual shares, as is done for counts of genes, which are parts of a whole, too (Anders and Huber,
// "Differential expression analysis for sequence count data", 2010). Here it is 67/80: the rest has
// its 80 % again, and parse 40 % of what the whole was before.
//
// Pure; thread-safe.

#pragma once

#include <span>
#include <vector>

namespace profiler::estimate {

// A number for each host of two groups.
struct OfHosts {
  std::vector<double> before, after;
};

struct HostScales {
  OfHosts scales;  // on average 1 before
  OfHosts errors;  // variance of a scale, relative
};

// `shares`: by function, what each host has of it by itself, from 0 to 1. A host on which fewer
// than three functions have 30 samples has the scale 1: with so few nobody knows which one changed.
// Functions that are `left_out` do not count; none are where it is empty. Hosts have samples, and
// each group has one of them at least. Linear in functions times hosts.
HostScales ScalesOf(const OfHosts& samples, std::span<const OfHosts> shares,
                    const std::vector<bool>& left_out = {});

}  // namespace profiler::estimate

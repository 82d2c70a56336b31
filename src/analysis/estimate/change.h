// Decides whether a share differs between two recordings, or two groups of them, by more than
// statistical noise.
//
// Two runs of one program never spend exactly the same time in a function. So exact shares of each
// run are not enough; the variation from run to run counts.
//
//   one run each      The difference is compared with its variation between pieces of the runs.
//                     Piece i of one run is compared with piece i of the other, so phases that
//                     both runs have add no variation. Variation only between whole runs (memory
//                     layout, other load of the machine) is not seen.
//   several runs each The difference is compared with the variation of each group's runs. A few
//                     runs measure it badly for one function, so the variances of all functions
//                     are combined (run_variance.h).
//
// Among thousands of functions, some differ by chance alone. Significance is chosen so that on
// average one in a hundred of the functions called significant is a false one (Benjamini and
// Hochberg, 1995).
//
// The functions are pure and thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/analysis/estimate/run_variance.h"

namespace profiler::estimate {

struct Change {
  double before = 0, after = 0;  // mean shares
  double error = 0;              // standard error of after − before
  double freedom = 1;            // degrees of freedom of `error`
  // p-value: probability that two runs of the same program differ as much.
  double chance = 1;

  double difference() const { return after - before; }
  double half_width() const;  // half the width of the 95 % interval
};

// Compares two single runs.
Change ChangeOf(const RunShare& before, const RunShare& after);

// The shares of one function in the runs of both groups. Each group has at least one run.
struct Groups {
  std::vector<RunShare> before, after;
};

// Returns the change of each function. With one run each, a change is the result of ChangeOf.
std::vector<Change> ChangesOf(std::span<const Groups> functions);

// Returns the p-value of a split of samples into `before` and `after`: the probability of a split
// at least as uneven. Each sample falls to `after` with probability `expected`. Returns 0 for more
// than a hundred samples, because their variances suffice.
double ChanceOfParting(double before, double after, double expected);

// Returns the largest p-value that is significant, so that at most the part `rate` of the
// significant changes is false; 0 if none is significant.
double LargestSignificantChance(std::span<const Change> changes, double rate);

// Returns the smallest change that is found significant in 95 of 100 cases, if p-values up to
// `significant` count as significant.
double SmallestDetectable(const Change& change, double significant);

}  // namespace profiler::estimate

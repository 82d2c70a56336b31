// Whether a share differs between two recordings, or two groups of them, by more than chance.
//
// Two runs of one program never spend exactly the same time in a function, so it is not enough to
// know each run's share exactly: what counts is how much shares vary from run to run.
//
//   one run each      is told by how the difference varies between pieces of the runs: piece i of
//                     the one is compared with piece i of the other, so what a program does at the
//                     same point of every run does not vary. What varies between whole runs alone
//                     (where memory lies, what else the machine did) is not seen.
//   several runs each is told by how much the runs of each group vary. Few runs tell that badly for
//                     one function, so all functions help to say it (run_variance.h).
//
// Among thousands of functions some differ by chance: those that are called significant are such
// that one in a hundred of them, on average, is not (Benjamini and Hochberg, 1995).
//
// Pure functions; thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/estimate/run_variance.h"

namespace profiler::estimate {

struct Change {
  double before = 0, after = 0;  // mean shares
  double error = 0;              // standard error of after − before
  double freedom = 1;            // degrees of it
  double chance = 1;             // that two runs of the same program differ as much

  double difference() const { return after - before; }
  double half_width() const;  // of the 95 % interval
};

// Of one run each.
Change ChangeOf(const RunShare& before, const RunShare& after);

// Of one function, by run; each group has one run at least.
struct Groups {
  std::vector<RunShare> before, after;
};

// By function. With one run each the same as ChangeOf.
std::vector<Change> ChangesOf(std::span<const Groups> functions);

// That chance parts samples as unequally or more, where each of them falls to `after` with the
// chance `expected`. Of more than a hundred it is 0: their variances tell that.
double ChanceOfParting(double before, double after, double expected);

// The largest chance that is significant, so that at most `rate` of those found are false; 0 where
// none is.
double LargestSignificantChance(std::span<const Change> changes, double rate);

// The change that would be found in 95 of 100 cases: where chances up to `significant` are.
double SmallestDetectable(const Change& change, double significant);

}  // namespace profiler::estimate

// Sources of a fleet's windows: a directory of segments, or a server that segments were pushed to.
// Both give exactly the same answers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/segments/selection.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

// A query for stacks.
struct StacksQuestion {
  Selection selection;
  bool tells_hosts_apart = false;  // True: one window per host; false: one for all.
  bool tells_times_apart = false;  // True: one window per begin; false: one for all times.
};

// A query for a table: one line per combination of the keys in `by`.
struct SumsQuestion {
  Selection selection;
  std::vector<FieldName> by;  // the keys; may be empty
  // True to group by function, too, as the last column. A sample counts for the function that ran.
  // With `total`, it counts once for each function on its stack.
  bool functions = false;
  bool total = false;
  // Largest number of lines. The heaviest lines come first, lines of equal weight in the order of
  // their keys.
  size_t most = 20;
};

struct Sum {
  std::vector<std::string> keys;  // values of `by`, then the function's name
  uint64_t samples = 0, value = 0;
  bool operator==(const Sum&) const = default;
};

struct Sums {
  std::vector<Sum> lines;
  uint64_t samples = 0, value = 0;  // sums over all selected samples
};

// Sums of the event that ChooseEvent (event_rule.h) prefers.
struct SumsOfEvent {
  std::string event;  // empty: the sums group by event
  fleet::Sums sums;
};

// A source. One thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // Returns windows of the selected samples; windows without samples are left out. If times are
  // merged, `begin` and `length` cover the interval from the first window to the last. Workloads
  // keep all their names. Damaged segments are skipped and become lines of `*notes`. Returns
  // kNotFound if no sample is selected. Other errors: those of the server, such as kUnavailable, or
  // those of the directory.
  virtual absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                                     std::vector<std::string>* notes) = 0;
  // Adds up all selected events, even if their units differ.
  virtual absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                           std::vector<std::string>* notes) = 0;

  // Like Sums, but adds up only one event if several are selected and `by` does not contain the
  // event. ChooseEvent chooses it, and a line of `*notes` names it. First queries which events
  // exist.
  virtual absl::StatusOr<SumsOfEvent> SumsOfOneEvent(const SumsQuestion& question,
                                                     std::vector<std::string>* notes);

  // Returns a statement that answers the question, for a person to read and change. Empty if there
  // is no server. The statements that the source itself sends may differ: they may ask for more
  // lines, or first for the events.
  virtual std::string StatementOf(const StacksQuestion& question) = 0;
  virtual std::string StatementOf(const SumsQuestion& question) = 0;

 protected:
  // Returns only the lines of Sums, for callers that know the totals. A source overrides this
  // function if it can do so with less work than Sums.
  virtual absl::StatusOr<std::vector<Sum>> Lines(const SumsQuestion& question,
                                                 std::vector<std::string>* notes);
};

}  // namespace profiler::fleet

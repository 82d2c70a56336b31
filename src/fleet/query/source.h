// Sources of a fleet's windows: a directory of segments, or a server that segments were pushed to.
// Both give the same answers, to the sample.

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
  // True to group by function, too, as the last column. A sample counts for the function that ran;
  // with `total`, once for each function on its stack.
  bool functions = false;
  bool total = false;
  size_t most = 20;  // lines at most, the heaviest first, then in the order of their keys
};

struct Sum {
  std::vector<std::string> keys;  // values of `by`, then the function's name
  uint64_t samples = 0, value = 0;
  bool operator==(const Sum&) const = default;
};

struct Sums {
  std::vector<Sum> lines;
  uint64_t samples = 0, value = 0;  // of all selected samples
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
  // keep all their names. Damaged segments are skipped and become lines of `*notes`. Errors:
  // kNotFound if nothing is selected; kUnavailable and others of the server, or of the directory.
  virtual absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                                     std::vector<std::string>* notes) = 0;
  // Adds up all selected events, whatever their units.
  virtual absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                           std::vector<std::string>* notes) = 0;

  // Like Sums, but if several events are selected and `by` does not contain the event, sums only
  // the event that ChooseEvent prefers, and says so in a line of `*notes`. First queries which
  // events exist.
  virtual absl::StatusOr<SumsOfEvent> SumsOfOneEvent(const SumsQuestion& question,
                                                     std::vector<std::string>* notes);

  // Returns a statement that answers the question, for a person to read and change; empty if there
  // is no server. The source's own statements may ask for more lines, and for the events first.
  virtual std::string StatementOf(const StacksQuestion& question) = 0;
  virtual std::string StatementOf(const SumsQuestion& question) = 0;

 protected:
  // Returns only the lines of Sums, for callers that know the totals. A source overrides it if that
  // is less work.
  virtual absl::StatusOr<std::vector<Sum>> Lines(const SumsQuestion& question,
                                                 std::vector<std::string>* notes);
};

}  // namespace profiler::fleet

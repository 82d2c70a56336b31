// Whoever knows what a fleet did: a directory of segments, or a server that they were pushed to.
// Both give the same answers, to the sample.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/selection.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

// Asks for stacks.
struct StacksQuestion {
  Selection selection;
  bool tells_hosts_apart = false;  // a window for each host, else one for all
  bool tells_times_apart = false;  // a window for each begin of one, else one for all times
};

// Asks for a table: a line for each combination of what is told apart.
struct SumsQuestion {
  Selection selection;
  std::vector<FieldName> by;  // may be empty
  // The functions too, as the last column. A sample counts for the function that ran, or with
  // `total` for each function on its stack, once.
  bool functions = false;
  bool total = false;
  size_t most = 20;  // lines, the heaviest first; equal ones in the order of their keys
};

struct Sum {
  std::vector<std::string> keys;  // of `by`, and the function's name
  uint64_t samples = 0, value = 0;
  bool operator==(const Sum&) const = default;
};

struct Sums {
  std::vector<Sum> lines;
  uint64_t samples = 0, value = 0;  // of everything that is selected
};

// Sums of the one event that ChooseEvent (event_rule.h) prefers.
struct SumsOfEvent {
  std::string event;  // empty: the sums tell events apart
  fleet::Sums sums;
};

// One thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // Windows without samples are left out; of times that are not told apart, `begin` and `length`
  // are what is covered from the first to the last. Workloads keep all that they have. Errors:
  // kNotFound where nothing is selected; kUnavailable and others of the server, or of the
  // directory; what is damaged is passed over and a line of `*notes`.
  virtual absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                                     std::vector<std::string>* notes) = 0;
  // Adds up all events that are selected, whatever their units.
  virtual absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                           std::vector<std::string>* notes) = 0;

  // Where several events are selected, and `by` does not tell them apart, only of the one that
  // ChooseEvent prefers; a line of `*notes` says so. Asks first which events there are.
  virtual absl::StatusOr<SumsOfEvent> SumsOfOneEvent(const SumsQuestion& question,
                                                     std::vector<std::string>* notes);

  // Answers the question, for a person to read and change; empty where there is no server. What is
  // sent may ask for more lines, and for the events first.
  virtual std::string StatementOf(const StacksQuestion& question) = 0;
  virtual std::string StatementOf(const SumsQuestion& question) = 0;

 protected:
  // The lines of Sums alone, for whoever knows what all of them come to. A source overrides it
  // where that is less work.
  virtual absl::StatusOr<std::vector<Sum>> Lines(const SumsQuestion& question,
                                                 std::vector<std::string>* notes);
};

}  // namespace profiler::fleet

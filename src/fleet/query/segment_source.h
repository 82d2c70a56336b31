// A source that answers queries from a directory of segments, without a server.
//
//   1. choose segments in the interval     their names contain the time
//   2. choose segments of selected hosts   their names contain a hash of the host's name; their
//                                          heads contain the name and the labels
//   3. read the chosen segments            with up to one thread per CPU
//   4. add up the selected rows            the memory is that of the answer's distinct lines
//
// One hour of one machine is 360 segments of some 600 rows, and takes a quarter of a second.

#pragma once

#include <string>
#include <vector>

#include "src/fleet/query/source.h"
#include "src/fleet/query/sum_table.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::fleet {

class SegmentSource final : public Source {
 public:
  // `threads`: number of reading threads; 0: one per CPU, at most eight.
  explicit SegmentSource(SegmentDirectory directory, unsigned threads = 0);

  // Damaged segments become lines of `*notes`. So do segments that disappear before they are read,
  // such as the oldest segments of a spool. Other errors: those of opendir(3) and open(2). Takes
  // time linear in the segments.
  absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                             std::vector<std::string>* notes) override;
  absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                   std::vector<std::string>* notes) override;
  // Reads each segment only once; Source's implementation would read it twice.
  absl::StatusOr<SumsOfEvent> SumsOfOneEvent(const SumsQuestion& question,
                                             std::vector<std::string>* notes) override;

  std::string StatementOf(const StacksQuestion&) override { return {}; }
  std::string StatementOf(const SumsQuestion&) override { return {}; }

 private:
  absl::StatusOr<SumTable> SumUp(const SumsQuestion& question, std::vector<std::string>* notes);

  SegmentDirectory directory_;
  const unsigned threads_;
};

}  // namespace profiler::fleet

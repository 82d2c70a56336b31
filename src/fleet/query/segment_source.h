// A source that answers queries from a directory of segments, without a server.
//
//   segments in the interval               by their names
//     of machines that satisfy conditions  by the host's hash in the name, or by their heads
//       read, with the selected rows       by up to one thread per CPU
//         added up                         in memory for the distinct lines of the answer
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

  // Damaged segments, and segments that disappear meanwhile, such as the oldest ones of a spool,
  // become lines of `*notes`. Other errors: those of opendir(3) and open(2). Takes time linear in
  // the segments.
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

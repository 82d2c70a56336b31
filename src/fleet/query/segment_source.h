// Answers from a directory of segments, without any server.
//
//   segments of the stretch of time          told by their names
//     of machines that conditions hold of    by the host's hash in the name, else by their heads
//       read, each with its rows             in as many threads as there are CPUs
//         added up                           memory by what is distinct in the answer
//
// An hour of one machine are 360 segments of some 600 rows: a quarter of a second.

#pragma once

#include <string>
#include <vector>

#include "src/fleet/query/source.h"
#include "src/fleet/query/sum_table.h"
#include "src/fleet/segment_directory.h"

namespace profiler::fleet {

class SegmentSource final : public Source {
 public:
  // `threads`: how many read segments; 0: as many as there are CPUs, eight at most.
  explicit SegmentSource(SegmentDirectory directory, unsigned threads = 0);

  // Segments that have gone since they were listed, as a spool's oldest do, and those that are
  // damaged are notes. Errors besides: those of opendir(3) and open(2). Linear in the segments.
  absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                             std::vector<std::string>* notes) override;
  absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                   std::vector<std::string>* notes) override;
  // Reads each segment once.
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

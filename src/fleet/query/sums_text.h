// Sums as a table:
//
//   # /var/lib/profiler: 2026-11-26T08:00:00Z to now, service=web
//   # 12345 samples, 617.250 s of cpu-clock
//   #
//   #  Share  Samples  CPU time  Host  Function
//   # ......  .......  ........  ....  ........
//     12.34%     1523  76.150 s  h1    parse

#pragma once

#include <string>
#include <vector>

#include "src/fleet/query/source.h"

namespace profiler::fleet {

// A question and its answer.
struct AnsweredSums {
  std::string source;  // a directory or URL
  SumsQuestion question;
  SumsOfEvent answer;
  std::vector<std::string> notes;
};

// Pure; thread-safe.
std::string FormatSums(const AnsweredSums& sums);

}  // namespace profiler::fleet

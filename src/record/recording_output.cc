#include "src/record/recording_output.h"

#include <algorithm>

namespace profiler::record {

void AddQuality(const ChainQuality& part, ChainQuality* sum) {
  sum->complete += part.complete;
  sum->late_read += part.late_read;
  sum->guessed += part.guessed;
  sum->no_stack += part.no_stack;
  for (const ChainQuality::Cut& cut : part.cuts) {
    const auto same = std::find_if(sum->cuts.begin(), sum->cuts.end(), [&](const auto& other) {
      return other.reason == cut.reason && other.image == cut.image;
    });
    if (same == sum->cuts.end()) {
      sum->cuts.push_back(cut);
    } else {
      same->chains += cut.chains;
    }
  }
  std::stable_sort(sum->cuts.begin(), sum->cuts.end(),
                   [](const auto& a, const auto& b) { return a.chains > b.chains; });
}

}  // namespace profiler::record

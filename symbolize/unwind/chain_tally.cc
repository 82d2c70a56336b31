#include "symbolize/unwind/chain_tally.h"

#include <algorithm>
#include <utility>

namespace profiler::symbolize {

void ChainTally::CountCut(ChainEnd end, uint32_t image) {
  ++cuts_[{end, end == ChainEnd::kNoImage ? 0 : image}];
}

ChainQuality ChainTally::Quality(absl::FunctionRef<std::string(uint32_t image)> path_of) const {
  // Different images may have the same path: in several containers, or as several builds.
  std::map<std::pair<std::string, std::string>, uint64_t> cuts;
  for (const auto& [cut, count] : cuts_) {
    const auto& [end, image] = cut;
    std::string path = end == ChainEnd::kNoImage ? std::string() : path_of(image);
    cuts[{std::string(ChainEndName(end)), std::move(path)}] += count;
  }
  ChainQuality quality = whole_;
  for (const auto& [cut, count] : cuts) quality.cuts.push_back({count, cut.first, cut.second});
  std::stable_sort(quality.cuts.begin(), quality.cuts.end(),
                   [](const auto& a, const auto& b) { return a.chains > b.chains; });
  return quality;
}

}  // namespace profiler::symbolize

#include "src/views/diff/mean.h"

#include <algorithm>
#include <utility>

namespace profiler::diff {

Mean MeanOf(std::span<const Run> runs) {
  std::vector<const Run*> matched;
  for (const Run& run : runs) matched.push_back(&run);
  Mean mean;
  std::vector<estimate::SharesOfRuns> shares;
  for (const MatchedKey& key : MatchKeys(matched)) {
    MeanRow row{.name = std::string(key.name)};
    estimate::SharesOfRuns of_key;
    uint64_t samples = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      of_key.push_back(ShareOf(runs[i], key.of_run[i], Weight::kSelf));
      samples += of_key.back().samples.count;
      row.amount +=
          AmountOf(runs[i], key.of_run[i], Weight::kSelf) / static_cast<double>(runs.size());
    }
    if (samples < kFewestSamples) {
      if (samples != 0) ++mean.rare;
      continue;
    }
    shares.push_back(std::move(of_key));
    mean.rows.push_back(std::move(row));
  }
  const std::vector<estimate::MeanShare> means = estimate::MeanSharesOf(shares);
  for (size_t i = 0; i < means.size(); ++i) mean.rows[i].share = means[i];
  std::stable_sort(mean.rows.begin(), mean.rows.end(), [](const MeanRow& a, const MeanRow& b) {
    return a.share.share > b.share.share;
  });
  return mean;
}

}  // namespace profiler::diff

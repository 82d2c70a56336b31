#include "src/views/diff/run.h"

#include "absl/container/flat_hash_map.h"

namespace profiler::diff {
namespace {

const analysis::Measured& MeasuredOf(const Run& run, analysis::KeyId key, Weight weight) {
  return (weight == Weight::kSelf ? run.measured.self : run.measured.total)[key];
}

}  // namespace

std::vector<MatchedKey> MatchKeys(std::span<const Run* const> runs) {
  std::vector<MatchedKey> matched;
  absl::flat_hash_map<std::string_view, size_t> by_name;
  for (size_t run = 0; run < runs.size(); ++run) {
    const std::vector<std::string>& names = runs[run]->names;
    for (analysis::KeyId key = 0; key < names.size(); ++key) {
      const auto [found, is_new] = by_name.try_emplace(names[key], matched.size());
      if (is_new) {
        matched.push_back(
            {found->first, std::vector<analysis::KeyId>(runs.size(), analysis::kNoKey)});
      }
      matched[found->second].of_run[run] = key;
    }
  }
  return matched;
}

estimate::RunShare ShareOf(const Run& run, analysis::KeyId key, Weight weight) {
  estimate::RunShare share{.samples = {.samples = run.measured.samples},
                           .inequality = run.measured.inequality};
  if (key == analysis::kNoKey) return share;
  const analysis::Measured& measured = MeasuredOf(run, key, weight);
  share.samples = measured.samples;
  share.share = run.measured.ShareOf(measured);
  share.inequality = measured.inequality;
  share.excess = measured.excess;
  return share;
}

double AmountOf(const Run& run, analysis::KeyId key, Weight weight) {
  return key == analysis::kNoKey ? 0 : static_cast<double>(MeasuredOf(run, key, weight).period);
}

}  // namespace profiler::diff

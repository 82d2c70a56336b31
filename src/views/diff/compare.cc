#include "src/views/diff/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace profiler::diff {
namespace {

using estimate::Groups;
class Comparison {
 public:
  explicit Comparison(const CompareOptions& options) : options_(options) {}

  // Adds a key's shares. The first ids in `key.of_run` belong to `before`, the others to `after`.
  void Add(const MatchedKey& key, std::span<const Run> before, std::span<const Run> after) {
    Groups groups;
    Row row{.name = std::string(key.name)};
    uint64_t samples = 0;
    const auto add = [&](std::span<const Run> runs, std::span<const analysis::KeyId> ids,
                         std::vector<estimate::RunShare>& shares, double& mean) {
      for (size_t i = 0; i < runs.size(); ++i) {
        shares.push_back(ShareOf(runs[i], ids[i], options_.weight));
        samples += shares.back().samples.count;
        mean += AmountOf(runs[i], ids[i], options_.weight) / static_cast<double>(runs.size());
      }
    };
    const std::span<const analysis::KeyId> ids = key.of_run;
    add(before, ids.first(before.size()), groups.before, row.before);
    add(after, ids.subspan(before.size()), groups.after, row.after);
    if (samples < kFewestSamples) return;
    groups_.push_back(std::move(groups));
    rows_.push_back(std::move(row));
  }

  Diff Finish() && {
    const std::vector<estimate::Change> changes = estimate::ChangesOf(groups_);
    for (size_t i = 0; i < changes.size(); ++i) rows_[i].share = changes[i];
    return Judged(std::move(rows_), options_);
  }

 private:
  const CompareOptions options_;
  std::vector<Groups> groups_;
  std::vector<Row> rows_;
};

}  // namespace

Diff Judged(std::vector<Row> rows, const CompareOptions& options) {
  std::vector<estimate::Change> changes;
  for (const Row& row : rows) changes.push_back(row.share);
  Diff diff;
  diff.significant_chance =
      estimate::LargestSignificantChance(changes, options.false_discovery_rate);
  // The p-value that a single row must reach if none is significant.
  const double needed =
      std::max(diff.significant_chance,
               options.false_discovery_rate / std::max<double>(1, double(changes.size())));
  for (Row& row : rows) {
    row.significant = row.share.chance <= diff.significant_chance;
    diff.smallest_detectable =
        std::max(diff.smallest_detectable, estimate::SmallestDetectable(row.share, needed));
  }
  std::stable_sort(rows.begin(), rows.end(), [&options](const Row& a, const Row& b) {
    if (options.order == RowOrder::kBefore) return a.share.before > b.share.before;
    return std::abs(a.share.difference()) > std::abs(b.share.difference());
  });
  diff.rows = std::move(rows);
  return diff;
}

Diff Compare(std::span<const Run> before, std::span<const Run> after,
             const CompareOptions& options) {
  Comparison comparison(options);
  std::vector<const Run*> runs;
  for (const std::span<const Run> group : {before, after}) {
    for (const Run& run : group) runs.push_back(&run);
  }
  for (const MatchedKey& key : MatchKeys(runs)) comparison.Add(key, before, after);
  return std::move(comparison).Finish();
}

}  // namespace profiler::diff

#include "src/diff/compare.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "src/query/keyed_rows.h"

namespace profiler::diff {
namespace {

using estimate::Groups;
using estimate::RunShare;
using query::KeyId;
using query::Measured;

// In all runs together: with fewer no change could be told, and testing them makes it harder to
// tell those of others.
constexpr uint64_t kFewestSamples = 10;

// A key by name, and what each run calls it.
struct MatchedKey {
  std::string_view name;
  std::vector<KeyId> before, after;  // by run; query::kNoKey where it does not occur
};

std::vector<MatchedKey> MatchKeys(std::span<const Run> before, std::span<const Run> after) {
  std::vector<MatchedKey> matched;
  absl::flat_hash_map<std::string_view, size_t> by_name;
  const auto add = [&](std::span<const Run> runs, std::vector<KeyId> MatchedKey::*keys) {
    for (size_t run = 0; run < runs.size(); ++run) {
      for (KeyId key = 0; key < runs[run].names.size(); ++key) {
        const auto [found, is_new] = by_name.try_emplace(runs[run].names[key], matched.size());
        if (is_new) {
          matched.push_back({found->first, std::vector<KeyId>(before.size(), query::kNoKey),
                             std::vector<KeyId>(after.size(), query::kNoKey)});
        }
        (matched[found->second].*keys)[run] = key;
      }
    }
  };
  add(before, &MatchedKey::before);
  add(after, &MatchedKey::after);
  return matched;
}

class Comparison {
 public:
  explicit Comparison(const CompareOptions& options) : options_(options) {}

  void Add(const MatchedKey& key, std::span<const Run> before, std::span<const Run> after) {
    Groups groups;
    Row row{.name = std::string(key.name)};
    uint64_t samples = 0;
    const auto add = [&](std::span<const Run> runs, const std::vector<KeyId>& ids,
                         std::vector<RunShare>& shares, double& mean) {
      for (size_t i = 0; i < runs.size(); ++i) {
        shares.push_back(ShareOf(runs[i], ids[i]));
        samples += shares.back().samples.count;
        mean += PeriodOf(runs[i], ids[i]) / static_cast<double>(runs.size());
      }
    };
    add(before, key.before, groups.before, row.before);
    add(after, key.after, groups.after, row.after);
    if (samples < kFewestSamples) return;
    groups_.push_back(std::move(groups));
    rows_.push_back(std::move(row));
  }

  Diff Finish() && {
    const std::vector<estimate::Change> changes = estimate::ChangesOf(groups_);
    Diff diff;
    diff.significant_chance =
        estimate::LargestSignificantChance(changes, options_.false_discovery_rate);
    // What a single row must reach, where none has.
    const double needed =
        std::max(diff.significant_chance,
                 options_.false_discovery_rate / std::max<double>(1, double(changes.size())));
    for (size_t i = 0; i < changes.size(); ++i) {
      rows_[i].share = changes[i];
      rows_[i].significant = changes[i].chance <= diff.significant_chance;
      diff.smallest_detectable =
          std::max(diff.smallest_detectable, estimate::SmallestDetectable(changes[i], needed));
    }
    std::stable_sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) {
      if (options_.order == RowOrder::kBefore) return a.share.before > b.share.before;
      return std::abs(a.share.difference()) > std::abs(b.share.difference());
    });
    diff.rows = std::move(rows_);
    return diff;
  }

 private:
  const Measured& MeasuredOf(const Run& run, KeyId key) const {
    return (options_.weight == Weight::kSelf ? run.measured.self : run.measured.total)[key];
  }

  double PeriodOf(const Run& run, KeyId key) const {
    return key == query::kNoKey ? 0 : static_cast<double>(MeasuredOf(run, key).period);
  }

  RunShare ShareOf(const Run& run, KeyId key) const {
    RunShare share{.samples = {.samples = run.measured.samples},
                   .inequality = run.measured.inequality};
    if (key == query::kNoKey) return share;
    const Measured& measured = MeasuredOf(run, key);
    share.samples = measured.samples;
    share.share = run.measured.ShareOf(measured);
    share.inequality = measured.inequality;
    share.excess = measured.excess;
    return share;
  }

  const CompareOptions options_;
  std::vector<Groups> groups_;
  std::vector<Row> rows_;
};

}  // namespace

Diff Compare(std::span<const Run> before, std::span<const Run> after,
             const CompareOptions& options) {
  Comparison comparison(options);
  for (const MatchedKey& key : MatchKeys(before, after)) comparison.Add(key, before, after);
  return std::move(comparison).Finish();
}

}  // namespace profiler::diff

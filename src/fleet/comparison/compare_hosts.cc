#include "src/fleet/comparison/compare_hosts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/fleet/comparison/host_change.h"

namespace profiler::fleet {
namespace {

using diff::CompareOptions;
using diff::MatchedKey;
using diff::Run;
using diff::Weight;
using Runs = std::vector<const Run*>;

struct Groups {
  Runs before, after;
  bool are_pairs = false;
};

Runs WithSamples(std::span<const Run> runs) {
  Runs result;
  for (const Run& run : runs) {
    if (run.measured.samples > 0) result.push_back(&run);
  }
  return result;
}

Groups PairsOf(const Groups& groups) {
  std::map<std::string_view, const Run*> before;
  for (const Run* run : groups.before) before.emplace(run->name, run);
  Groups pairs{.before = {}, .after = {}, .are_pairs = true};
  for (const Run* run : groups.after) {
    const auto same = before.find(run->name);
    if (same == before.end()) continue;
    pairs.before.push_back(same->second);
    pairs.after.push_back(run);
  }
  return pairs;
}

// Returns only the hosts that are in both groups, if these are at least half of each group.
Groups PairedIfMost(Groups groups) {
  Groups pairs = PairsOf(groups);
  const size_t count = pairs.after.size();
  const bool are_most =
      2 * count >= groups.before.size() && 2 * count >= groups.after.size() && count >= 2;
  return are_most ? pairs : groups;
}

// Lowers the permitted rate of false alarms. The tests assume that hosts are normally distributed.
// With few samples, outliers are about three times as frequent as assumed (tools/fleet_experiment).
CompareOptions Strict(CompareOptions options) {
  options.false_discovery_rate *= 0.3;
  return options;
}

class Comparison {
 public:
  Comparison(const Groups& groups, const CompareOptions& options)
      : groups_(groups), options_(Strict(options)) {
    samples_.before = SamplesOf(groups.before);
    samples_.after = SamplesOf(groups.after);
  }

  // Adds a key's shares. The first ids in `key.of_run` belong to the group before.
  void Add(const MatchedKey& key) {
    OfHosts self = SharesOf(key, Weight::kSelf);
    if (options_.weight == Weight::kSelf) {
      AddRow(key, self);
    } else {
      AddRow(key, SharesOf(key, Weight::kTotal));
    }
    self_.push_back(std::move(self));
  }

  diff::Diff Finish() && {
    const std::vector<estimate::Change> changes =
        HostChangesOf({.samples = samples_,
                       .scales = SettledScalesOf(samples_, self_, groups_.are_pairs),
                       .are_pairs = groups_.are_pairs},
                      shares_);
    for (size_t i = 0; i < changes.size(); ++i) rows_[i].share = changes[i];
    return Judged(std::move(rows_), options_);
  }

 private:
  static std::vector<double> SamplesOf(const Runs& runs) {
    std::vector<double> samples;
    for (const Run* run : runs) samples.push_back(static_cast<double>(run->measured.samples));
    return samples;
  }

  OfHosts SharesOf(const MatchedKey& key, Weight weight) const {
    OfHosts shares;
    const auto add = [&](const Runs& runs, size_t first, std::vector<double>& to) {
      for (size_t i = 0; i < runs.size(); ++i) {
        to.push_back(ShareOf(*runs[i], key.of_run[first + i], weight).share);
      }
    };
    add(groups_.before, 0, shares.before);
    add(groups_.after, groups_.before.size(), shares.after);
    return shares;
  }

  void AddRow(const MatchedKey& key, OfHosts shares) {
    constexpr double kFewestOfHost = 2;
    diff::Row row{.name = std::string(key.name)};
    double samples = 0;
    const auto add = [&](const Runs& runs, size_t first, double& mean) {
      for (size_t i = 0; i < runs.size(); ++i) {
        const analysis::KeyId id = key.of_run[first + i];
        samples += static_cast<double>(ShareOf(*runs[i], id, options_.weight).samples.count);
        mean += AmountOf(*runs[i], id, options_.weight) / static_cast<double>(runs.size());
      }
    };
    add(groups_.before, 0, row.before);
    add(groups_.after, groups_.before.size(), row.after);
    const auto hosts = static_cast<double>(key.of_run.size());
    if (samples < std::max<double>(diff::kFewestSamples, kFewestOfHost * hosts)) return;
    rows_.push_back(std::move(row));
    shares_.push_back(std::move(shares));
  }

  const Groups& groups_;
  const CompareOptions options_;
  OfHosts samples_;
  std::vector<OfHosts> self_;    // self shares of all functions
  std::vector<OfHosts> shares_;  // [i]: the shares of rows_[i]
  std::vector<diff::Row> rows_;
};

}  // namespace

HostDiff CompareHosts(std::span<const Run> before, std::span<const Run> after,
                      const CompareOptions& options) {
  const Groups all = {.before = WithSamples(before), .after = WithSamples(after)};
  const Groups groups = PairedIfMost(all);
  Comparison comparison(groups, options);
  Runs runs = groups.before;
  runs.insert(runs.end(), groups.after.begin(), groups.after.end());
  for (const MatchedKey& key : MatchKeys(runs)) comparison.Add(key);
  HostDiff result;
  result.diff = std::move(comparison).Finish();
  if (groups.are_pairs) {
    result.pairs = groups.after.size();
    result.left_out = all.before.size() + all.after.size() - 2 * result.pairs;
  }
  return result;
}

}  // namespace profiler::fleet

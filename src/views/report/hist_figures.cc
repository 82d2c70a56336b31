#include "src/views/report/hist_figures.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "src/analysis/measure.h"
#include "src/analysis/sample_keys.h"
#include "src/analysis/stack_walk.h"
#include "src/views/report/row_numbers.h"
#include "src/views/report/sample_groups.h"

namespace profiler::report {

using analysis::KeyId;
using analysis::kNoKey;
using analysis::Measured;
using analysis::Measurement;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;

namespace {

// The rows of a histogram as keys of samples.
class HistKeys : public analysis::SampleKeys {
 public:
  HistKeys(const Histogram& hist, EventId event);

  size_t keys() const override { return hist_.rows().size(); }
  bool IsCounted(uint32_t row) const override {
    return !hist_.options().relative_percentages || ranges_[row].own != kNoKey;
  }
  KeyId OwnKeyOf(uint32_t row) const override { return ranges_[row].own; }
  std::span<const KeyId> KeysOf(uint32_t row) const override {
    const Range& range = ranges_[row];
    return std::span(keys_).subspan(range.first, range.size);
  }

 private:
  class Builder;

  struct Range {
    KeyId own = kNoKey;  // kNoKey for rows that the filter removes
    uint32_t first = 0, size = 0;
  };

  const Histogram& hist_;
  std::vector<Range> ranges_;  // [n]: keys of the profile's row n
  std::vector<KeyId> keys_;
};

// A builder that finds the keys of each sample by walking the stacks as the histogram did.
class HistKeys::Builder {
 public:
  explicit Builder(HistKeys& keys)
      : keys_(keys),
        hist_(keys.hist_),
        profile_(keys.hist_.profile()),
        numbers_(keys.hist_),
        met_(keys.hist_.rows().size()) {
    for (const HistRow& row : hist_.rows()) numbers_.Of(row);
  }

  void Build(EventId event) {
    const SampleGroups groups(profile_, event, hist_.options());
    analysis::StackWalk walk(profile_, KeptEnd(hist_.options()), hist_.options().max_stack);
    for (size_t group = 0; group < groups.size(); ++group) {
      for (const uint32_t row : groups[group]) {
        row_ = row;
        if (hist_.options().children) walk.To(profile_.rows[row].stack, *this);
        Count();
      }
      walk.End(*this);
    }
  }

  // ---- visitor of StackWalk
  void Prefetch(FrameId frame) const { hist_.functions().Prefetch(frame); }
  uint32_t Enter(FrameId frame) {
    for (const FunctionId function : hist_.functions().At(frame)) path_.push_back(KeyOf(function));
    return static_cast<uint32_t>(path_.size());
  }
  void Back(uint32_t functions) { path_.resize(functions); }

 private:
  KeyId KeyOf(FunctionId function) {
    return static_cast<KeyId>(
        numbers_.Of({.function = function, .thread = profile_.rows[row_].thread, .sample = row_}));
  }

  void Count() {
    Range& range = keys_.ranges_[row_];
    range.own = KeyOf(hist_.functions().Interrupted(profile_.rows[row_].self));
    range.first = static_cast<uint32_t>(keys_.keys_.size());
    ++now_;
    for (const KeyId key : path_) Meet(key);
    Meet(range.own);
    range.size = static_cast<uint32_t>(keys_.keys_.size()) - range.first;
  }

  // Adds a key to the row's keys unless they have it already, because a function may call itself.
  void Meet(KeyId key) {
    if (met_[key] == now_) return;
    met_[key] = now_;
    keys_.keys_.push_back(key);
  }

  HistKeys& keys_;
  const Histogram& hist_;
  const Profile& profile_;
  RowNumbers numbers_;
  uint32_t row_ = 0;  // index in the profile's rows
  std::vector<KeyId> path_;
  std::vector<uint32_t> met_;  // [key]: number, from 1, of the last row that met the key
  uint32_t now_ = 0;
};

HistKeys::HistKeys(const Histogram& hist, EventId event) : hist_(hist) {
  ranges_.resize(hist.profile().rows.size());
  Builder(*this).Build(event);
}

// Returns the rank of each row.
std::vector<uint32_t> RanksOf(const Histogram& hist, const std::vector<RowFigures>& rows) {
  std::vector<double> lows;
  for (const RowFigures& row : rows) lows.push_back(row.self.interval.low);
  std::sort(lows.begin(), lows.end());
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto above =
        lows.end() - std::upper_bound(lows.begin(), lows.end(), rows[i].self.interval.high);
    const bool has_own = hist.rows()[i].self.count != 0;
    ranks.push_back(has_own ? static_cast<uint32_t>(above) + 1 : 0);
  }
  return ranks;
}

std::optional<Tie> HeaviestTie(const Histogram& hist, const Measurement& measured) {
  std::vector<size_t> order(hist.rows().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return hist.rows()[a].self.period > hist.rows()[b].self.period;
  });
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const size_t row = order[i], next = order[i + 1];
    if (hist.rows()[next].self.count == 0) return std::nullopt;
    const uint64_t samples = measured.SamplesToTell(measured.self[row], measured.self[next]);
    if (samples > measured.samples) return Tie{row, next, samples};
  }
  return std::nullopt;
}

}  // namespace

HistFigures FiguresOf(const Histogram& hist, EventId event) {
  HistFigures figures;
  const HistKeys keys(hist, event);
  const Measurement measured = analysis::Measure(hist.profile(), event, keys);
  const bool has_order = std::any_of(measured.total.begin(), measured.total.end(),
                                     [](const Measured& of) { return of.samples.count != 0; });
  figures.is_count = measured.is_count;
  figures.missing_part = measured.missing_part;
  if (measured.is_count || !has_order) return figures;
  const auto figures_of = [&](const Measured& of) {
    return ShareFigures{measured.ShareOf(of), measured.IntervalOf(of)};
  };
  for (size_t i = 0; i < hist.rows().size(); ++i) {
    figures.rows.push_back(
        {.self = figures_of(measured.self[i]), .children = figures_of(measured.total[i])});
  }
  const std::vector<uint32_t> ranks = RanksOf(hist, figures.rows);
  for (size_t i = 0; i < ranks.size(); ++i) figures.rows[i].rank = ranks[i];
  figures.tie = HeaviestTie(hist, measured);
  return figures;
}

}  // namespace profiler::report

#include "src/analysis/missing_periods.h"

namespace profiler::analysis {

using profile::OrderedSample;
using profile::Row;

// Assumes that each sample has the mean period of its row.
MissingPeriods::MissingPeriods(const profile::Profile& profile, profile::EventId event) {
  for (const OrderedSample& sample : profile.order) {
    const Row& row = profile.rows[sample.row];
    if (row.event != event) continue;
    chance_.Add(sample.weight, sample.gap);
    if (sample.weight <= 1 || row.count == 0) continue;
    periods_.resize(profile.rows.size());
    periods_[sample.row] +=
        (sample.weight - 1) * static_cast<double>(row.period) / static_cast<double>(row.count);
  }
}

double MissingPeriods::part() const {
  return any() ? chance_.samples() / (chance_.taken() + chance_.samples()) : 0;
}

}  // namespace profiler::analysis

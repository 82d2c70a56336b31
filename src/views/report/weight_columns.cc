#include "src/views/report/weight_columns.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/padded_text.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {
namespace {

// A number of a row for each event of a group, the leader's first.
struct WeightKind {
  std::string_view heading;
  size_t width;  // width of one event's cell, in characters
  bool is_percent;
  uint64_t (*of_leader)(const Histogram& hist, size_t row);
  uint64_t (*of_member)(const EventWeights& weights);
};

template <class Of>
constexpr WeightKind OfSelf(std::string_view heading, size_t width, bool is_percent) {
  return {heading, width, is_percent,
          [](const Histogram& hist, size_t row) { return Of()(hist.rows()[row].self); },
          [](const EventWeights& weights) { return Of()(weights.self); }};
}

template <uint64_t ModePeriods::*mode>
constexpr WeightKind OfMode(std::string_view heading, size_t width) {
  return {heading, width, true,
          [](const Histogram& hist, size_t row) { return hist.ModesOf(row).*mode; },
          [](const EventWeights& weights) { return weights.modes.*mode; }};
}

constexpr size_t kNumberWidth = 12;

struct PeriodOf {
  uint64_t operator()(const Weight& weight) const { return weight.period; }
};
struct CountOf {
  uint64_t operator()(const Weight& weight) const { return weight.count; }
};

WeightKind KindOf(WeightField field) {
  switch (field) {
    case WeightField::kChildren:
      return {"Children", kPercentWidth, true,
              [](const Histogram& hist, size_t row) { return hist.rows()[row].children.period; },
              [](const EventWeights& weights) { return weights.children.period; }};
    case WeightField::kOverhead:
      return OfSelf<PeriodOf>("Overhead", kPercentWidth, true);
    case WeightField::kSys:
      return OfMode<&ModePeriods::sys>("sys", kPercentWidth);
    case WeightField::kUser:
      return OfMode<&ModePeriods::user>("usr", kPercentWidth);
    case WeightField::kGuestSys:
      return OfMode<&ModePeriods::guest_sys>("guest sys", kPercentWidth + 1);
    case WeightField::kGuestUser:
      return OfMode<&ModePeriods::guest_user>("guest usr", kPercentWidth + 1);
    case WeightField::kSamples:
      return OfSelf<CountOf>("Samples", kNumberWidth, false);
    case WeightField::kPeriod:
      return OfSelf<PeriodOf>("Period", kNumberWidth, false);
    default:  // intervals and ranks, which are not weights
      return {};
  }
}

class WeightColumn : public Column {
 public:
  WeightColumn(const Histogram& hist, const WeightKind& kind, const ColumnStyle& style,
               bool of_latency)
      : Column(0), hist_(hist), kind_(kind), style_(style), known_(256) {
    const size_t events = 1 + hist.member_totals().size();
    cell_width_ = style.width != 0 ? style.width : kind.width;
    width_ = std::max({cell_width_, events * kind.width, kind.heading.size()});
    // The heading of a latency spans two events.
    if (!of_latency) cell_width_ = std::max(cell_width_, kind.heading.size());
  }

  void AppendHeading(std::string& out) const override {
    AppendRightAligned(kind_.heading, width_, out);
  }
  bool IsText() const override { return false; }

  void AppendCell(size_t index, std::string& out) override {
    AppendNumberOf(kind_.of_leader(hist_, index), hist_.total(), out);
    const std::span<const EventWeights> members = hist_.MembersOf(index);
    for (size_t i = 0; i < members.size(); ++i) {
      AppendNumberOf(kind_.of_member(members[i]), hist_.member_totals()[i], out);
    }
  }

  // A row does not contain its periods by mode, so this function cannot compare them.
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return hist_.member_totals().empty() && hist_.options().modes == false && a.self == b.self &&
           a.children == b.children;
  }

 private:
  // Text of a number that many rows share.
  struct Known {
    uint64_t value = 0;
    uint64_t total = 0;
    std::string text;  // empty: unused
  };

  void AppendNumberOf(uint64_t value, const Weight& total, std::string& out) {
    Known& known = known_[value * 0x9e3779b97f4a7c15 >> 56];
    if (known.text.empty() || known.value != value || known.total != total.period) {
      known.value = value;
      known.total = total.period;
      known.text.assign(style_.separated ? 1 : 0, ' ');
      const size_t width = style_.separated ? 0 : cell_width_;
      if (kind_.is_percent) {
        AppendPercent(value, total.period, width, known.text);
      } else {
        AppendNumber(value, width, known.text);
      }
    }
    out += known.text;
  }

  const Histogram& hist_;
  const WeightKind kind_;
  const ColumnStyle style_;
  size_t cell_width_;         // width of one event's cell, in characters
  std::vector<Known> known_;  // indexed by a hash of the number
};

// A column that shows "N/A", for the weight of callees if rows do not have it.
class MissingColumn : public Column {
 public:
  explicit MissingColumn(std::string_view heading)
      : Column(std::max(heading.size(), kPercentWidth)), heading_(heading) {}

  void AppendHeading(std::string& out) const override { AppendRightAligned(heading_, width_, out); }
  void AppendCell(size_t /*index*/, std::string& out) override {
    AppendRightAligned("N/A", width_, out);
  }

 private:
  const std::string_view heading_;
};

// A column that shows a 95 % confidence interval: "11.92-13.40%".
class IntervalColumn : public Column {
 public:
  IntervalColumn(std::string_view heading, const HistFigures& figures,
                 ShareFigures RowFigures::*share, const ColumnStyle& style)
      : Column(style.separated ? 0 : std::max(style.width, heading.size())),
        heading_(heading),
        figures_(figures),
        share_(share) {
    for (size_t i = 0; i < figures.rows.size() && !style.separated; ++i) {
      width_ = std::max(width_, TextOf(i).size());
    }
  }

  void AppendHeading(std::string& out) const override { AppendRightAligned(heading_, width_, out); }
  bool IsText() const override { return false; }
  void AppendCell(size_t index, std::string& out) override {
    AppendRightAligned(TextOf(index), width_, out);
  }

 private:
  std::string TextOf(size_t index) const {
    const estimate::Interval& interval = (figures_.rows[index].*share_).interval;
    return absl::StrFormat("%.2f-%.2f%%", 100 * interval.low, 100 * interval.high);
  }

  const std::string_view heading_;
  const HistFigures& figures_;
  ShareFigures RowFigures::*const share_;
};

class RankColumn : public Column {
 public:
  RankColumn(const HistFigures& figures, const ColumnStyle& style)
      : Column(style.separated ? 0 : std::max(style.width, kWidth)), figures_(figures) {}

  void AppendHeading(std::string& out) const override { AppendRightAligned(kHeading, width_, out); }
  bool IsText() const override { return false; }
  void AppendCell(size_t index, std::string& out) override {
    const uint32_t rank = figures_.rows[index].rank;
    const std::string text = rank == 0 ? "" : absl::StrCat(rank);
    AppendRightAligned(text, width_, out);
  }

 private:
  static constexpr std::string_view kHeading = "Rank";
  static constexpr size_t kWidth = 5;

  const HistFigures& figures_;
};

std::string_view LatencyHeading(WeightField field, bool is_self, Latency latency) {
  const bool first = latency == Latency::kFirst;
  if (field == WeightField::kChildren) return first ? "Latency Children" : "Children Latency";
  if (is_self) return first ? "Latency     Self" : "    Self Latency";
  return first ? "Latency Overhead" : "Overhead Latency";
}

}  // namespace

std::unique_ptr<Column> MakeWeightColumn(const WeightSources& of, WeightField field,
                                         const ColumnStyle& style) {
  const bool has_figures = !of.figures.rows.empty();
  switch (field) {
    case WeightField::kChildrenInterval:
      if (!has_figures || !of.hist.options().children) return nullptr;
      return std::make_unique<IntervalColumn>("Children 95%", of.figures, &RowFigures::children,
                                              style);
    case WeightField::kOverheadInterval:
      if (!has_figures) return nullptr;
      return std::make_unique<IntervalColumn>(
          of.layout.overhead_is_self ? "Self 95%" : "Overhead 95%", of.figures, &RowFigures::self,
          style);
    case WeightField::kRank:
      return has_figures ? std::make_unique<RankColumn>(of.figures, style) : nullptr;
    default:
      break;
  }
  WeightKind kind = KindOf(field);
  const bool is_share = field == WeightField::kChildren || field == WeightField::kOverhead;
  const bool is_self = field == WeightField::kOverhead && of.layout.overhead_is_self;
  if (is_self) kind.heading = "Self";
  const bool of_latency = is_share && of.options.latency != Latency::kNone;
  if (of_latency) kind.heading = LatencyHeading(field, is_self, of.options.latency);
  if (field == WeightField::kChildren && !of.hist.options().children) {
    return std::make_unique<MissingColumn>(kind.heading);
  }
  return std::make_unique<WeightColumn>(of.hist, kind, style, of_latency);
}

}  // namespace profiler::report

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/analysis/amount.h"
#include "src/base/shown_text.h"
#include "src/views/diff/mean.h"
#include "src/views/diff/text_table.h"

namespace profiler::diff {
namespace {

constexpr size_t kMostRows = 20;
constexpr double kLeastShare = 0.005;

// Returns "a.data b.data c.data"; for many files, "a.data b.data … z.data".
std::string FilesText(std::span<const Run> runs) {
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> names;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs.size() > kMostNamed && i == 2) names.emplace_back("…");
    if (runs.size() <= kMostNamed || i < 2 || i + 1 == runs.size()) {
      names.push_back(Printable(runs[i].name));
    }
  }
  return absl::StrJoin(names, " ");
}

class MeanTable {
 public:
  MeanTable(const Mean& mean, std::span<const Run> runs)
      : mean_(mean), runs_(runs), event_(runs[0].event) {}

  std::string Text() const {
    std::string out;
    for (const std::string& line : Preface()) absl::StrAppend(&out, "# ", line, "\n");
    out += "#\n";
    AppendTable({"Share", "±", analysis::IsTime(event_) ? "Time" : "Number", "Function"}, Rows(),
                out);
    return out;
  }

 private:
  // Describes the runs, one line each.
  std::vector<std::string> Preface() const {
    double least = PeriodOf(runs_[0]), most = least;
    for (const Run& run : runs_) {
      least = std::min(least, PeriodOf(run));
      most = std::max(most, PeriodOf(run));
    }
    const std::string amount =
        absl::StrCat(analysis::AmountText(MeanAmount(), event_), " of ", Printable(event_));
    if (runs_.size() == 1) {
      return {absl::StrCat("1 run: ", FilesText(runs_)), amount,
              "±: half the 95 % interval of this run; how far runs differ is not known"};
    }
    return {absl::StrCat(runs_.size(), " runs: ", FilesText(runs_)),
            absl::StrCat(amount, " a run, from ", analysis::AmountText(least, event_), " to ",
                         analysis::AmountText(most, event_)),
            "±: half of the 95 % interval of the mean, from the differences between runs",
            absl::StrCat("to compare: profiler diff ", FilesText(runs_), " -- OTHERS…")};
  }

  std::vector<Cells> Rows() const {
    std::vector<Cells> rows;
    double shown = 0, shown_amount = 0;
    for (const MeanRow& row : mean_.rows) {
      if (rows.size() == kMostRows || row.share.share < kLeastShare) break;
      shown += row.share.share;
      shown_amount += row.amount;
      rows.push_back({PercentText(row.share.share),
                      absl::StrFormat("%.2f", 100 * row.share.half_width),
                      analysis::AmountText(row.amount, event_), Printable(row.name)});
    }
    const size_t others = mean_.rows.size() - rows.size() + mean_.rare;
    if (others == 0) return rows;
    // max() removes negative remainders of rounding.
    rows.push_back({PercentText(std::max(0.0, 1 - shown)), "",
                    analysis::AmountText(std::max(0.0, MeanAmount() - shown_amount), event_),
                    absl::StrCat(others, others == 1 ? " other function" : " other functions")});
    return rows;
  }

  static double PeriodOf(const Run& run) { return static_cast<double>(run.measured.period); }

  double MeanAmount() const {
    double sum = 0;
    for (const Run& run : runs_) sum += PeriodOf(run);
    return sum / static_cast<double>(runs_.size());
  }

  const Mean& mean_;
  const std::span<const Run> runs_;
  const std::string& event_;
};

}  // namespace

std::string FormatMean(const Mean& mean, std::span<const Run> runs) {
  return MeanTable(mean, runs).Text();
}

}  // namespace profiler::diff

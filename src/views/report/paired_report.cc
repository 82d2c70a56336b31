#include "src/views/report/paired_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/padded_text.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/cell_text.h"
#include "src/views/report/function_table.h"

namespace profiler::report {
namespace {

using profile::EventId;
using profile::Profile;

// Headings; their columns have the same width.
constexpr std::string_view kBaseline = "Baseline", kDifference = "Delta Abs";

struct PairedRow {
  std::string image, symbol;
  // Percentages; empty if the recording does not have the row.
  std::optional<double> before, after;

  double difference() const { return after ? *after - before.value_or(0) : 0; }
};

std::optional<EventId> EventNamed(const Profile& profile, std::string_view name) {
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    const profile::Event& event = profile.events[i];
    if (event.samples != 0 && profile.text(event.name) == name) return EventId{i};
  }
  return std::nullopt;
}

// The rows of one event, each with its shares in both recordings.
class Pairing {
 public:
  void Add(const Profile& profile, EventId event, std::optional<double> PairedRow::*side) {
    const FunctionTable functions(profile, /*inlines=*/false);
    std::map<FunctionId, uint64_t> periods;
    uint64_t total = 0;
    for (const profile::Row& row : profile.rows) {
      if (row.event != event) continue;
      periods[functions.Interrupted(row.self)] += row.period;
      total += row.period;
    }
    for (const auto& [id, period] : periods) {
      const Function& function = functions[id];
      std::string image, symbol;
      AppendPrintable(profile.text(profile[function.image].name), image);
      AppendSymbol(profile, function, symbol);
      PairedRow& row = rows_[{image, symbol}];
      row.image = image;
      row.symbol = symbol;
      row.*side = (row.*side).value_or(0) + Percent(period, total);
    }
  }

  std::vector<PairedRow> InOrder(PairedOrder order) const {
    std::vector<PairedRow> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(), [order](const PairedRow& a, const PairedRow& b) {
      const auto by_difference = [](const PairedRow& row) { return std::abs(row.difference()); };
      const auto by_baseline = [](const PairedRow& row) { return row.before.value_or(0); };
      if (order == PairedOrder::kBaseline) {
        return std::pair(by_baseline(a), by_difference(a)) >
               std::pair(by_baseline(b), by_difference(b));
      }
      return std::pair(by_difference(a), by_baseline(a)) >
             std::pair(by_difference(b), by_baseline(b));
    });
    return rows;
  }

 private:
  std::map<std::pair<std::string, std::string>, PairedRow> rows_;
};

std::string PercentCell(const std::optional<double>& percent, size_t width) {
  return percent ? absl::StrFormat("%*.2f%%", width - 1, *percent) : std::string(width, ' ');
}

std::string DifferenceCell(const PairedRow& row) {
  constexpr double kShown = 0.01;
  if (std::abs(row.difference()) < kShown) return std::string(kDifference.size(), ' ');
  return absl::StrFormat("%+*.2f%%", kDifference.size() - 1, row.difference());
}

void AppendTable(std::string_view event, const std::vector<PairedRow>& rows, std::string& out) {
  constexpr std::string_view kDso = "Shared Object", kSymbol = "Symbol";
  size_t image_width = kDso.size(), symbol_width = kSymbol.size();
  for (const PairedRow& row : rows) {
    image_width = std::max(image_width, row.image.size());
    symbol_width = std::max(symbol_width, row.symbol.size());
  }
  out += "# Event '";
  AppendPrintable(event, out);
  absl::StrAppend(&out, "'\n#\n# ", View(kBaseline), "  ", View(kDifference), "  ");
  AppendLeftAligned(kDso, image_width, out);
  out += "  ";
  AppendLeftAligned(kSymbol, symbol_width, out);
  absl::StrAppend(&out, "\n# ", std::string(kBaseline.size(), '.'), "  ",
                  std::string(kDifference.size(), '.'), "  ", std::string(image_width, '.'), "  ",
                  std::string(symbol_width, '.'), "\n#\n");
  for (const PairedRow& row : rows) {
    absl::StrAppend(&out, "  ", PercentCell(row.before, kBaseline.size()), "  ",
                    DifferenceCell(row), "  ");
    AppendLeftAligned(row.image, image_width, out);
    absl::StrAppend(&out, "  ", row.symbol, "\n");
  }
}

}  // namespace

std::string FormatPairedReport(const Profile& before, const Profile& after, PairedOrder order) {
  std::string out;
  for (uint32_t i = 0; i < before.events.size(); ++i) {
    const std::string_view name = before.text(before.events[i].name);
    const std::optional<EventId> same = EventNamed(after, name);
    if (before.events[i].samples == 0 || !same) continue;
    Pairing pairing;
    pairing.Add(before, EventId{i}, &PairedRow::before);
    pairing.Add(after, *same, &PairedRow::after);
    if (!out.empty()) out += '\n';
    AppendTable(name, pairing.InOrder(order), out);
  }
  return out;
}

}  // namespace profiler::report

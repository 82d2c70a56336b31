#include "src/views/report/hierarchy.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/views/report/row_numbers.h"

namespace profiler::report {
namespace {

std::vector<Field> WeightsOf(const std::vector<Field>& fields) {
  std::vector<Field> weights;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(weights),
               [](const Field& field) { return std::holds_alternative<WeightField>(field); });
  return weights;
}

ReportOptions WithAllColumns(ReportOptions options) {
  options.filter = {};
  options.widths.clear();
  return options;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

Hierarchy::Hierarchy(const profile::Profile& profile, const FunctionTable& functions,
                     std::span<const profile::EventId> events, const HistOptions& settled,
                     const ReportOptions& options, const FieldLayout& layout)
    : options_(WithAllColumns(options)),
      separator_(options.separator),
      percent_limit_(options.percent_limit) {
  levels_.reserve(settled.sort.size());
  for (size_t keys = 1; keys <= settled.sort.size(); ++keys) {
    AddLevel(keys, profile, functions, events, settled, layout);
  }
  for (size_t i = 0; i + 1 < levels_.size(); ++i) Nest(levels_[i], levels_[i + 1]);
  DecideWhatIsShown();
}

void Hierarchy::AddLevel(size_t keys, const profile::Profile& profile,
                         const FunctionTable& functions, std::span<const profile::EventId> events,
                         const HistOptions& settled, const FieldLayout& layout) {
  HistOptions options = settled;
  options.sort.resize(keys);
  options.row_order = WeightsOf(layout.order);
  options.row_order.insert(options.row_order.end(), options.sort.begin(), options.sort.end());
  options.chains = settled.chains && keys == settled.sort.size();
  if (keys < settled.sort.size()) options.symbol_part.clear();
  Level level;
  level.hist =
      std::make_unique<Histogram>(profile, functions, events.front(), options, events.subspan(1));
  FieldLayout shown{.shown = WeightsOf(layout.shown)};
  shown.shown.emplace_back(options.sort.back());
  level.figures = std::make_unique<HistFigures>(
      options_.ShowsFigures() ? FiguresOf(*level.hist, events.front()) : HistFigures());
  level.columns = MakeColumns(*level.hist, *level.figures, options_, shown);
  levels_.push_back(std::move(level));
}

void Hierarchy::Nest(Level& outer, const Level& inner) {
  RowNumbers numbers(*outer.hist);
  for (const HistRow& row : outer.hist->rows()) numbers.Of(row);
  outer.below.resize(outer.hist->rows().size());
  for (uint32_t i = 0; i < inner.hist->rows().size(); ++i) {
    const size_t row = numbers.Of(inner.hist->rows()[i]);
    if (row < outer.below.size()) outer.below[row].push_back(i);
  }
}

// Shows a row if it contains a row that is shown. Widens the columns for all shown rows.
void Hierarchy::DecideWhatIsShown() {
  for (size_t depth = levels_.size(); depth-- > 0;) {
    Level& level = levels_[depth];
    for (size_t row = 0; row < level.hist->rows().size(); ++row) {
      const bool is_shown =
          level.below.empty()
              ? level.hist->IsShown(row)
              : std::any_of(level.below[row].begin(), level.below[row].end(),
                            [&](uint32_t inner) { return levels_[depth + 1].is_shown[inner]; });
      level.is_shown.push_back(is_shown);
      if (!is_shown) continue;
      for (const auto& column : level.columns) column->MakeRoomFor(level.hist->rows()[row]);
    }
  }
}

void Hierarchy::AppendHeadings(std::string& out) const {
  const std::string_view between = separator_.empty() ? "  " : std::string_view(separator_);
  std::string weights(Indent(), ' '), dots(Indent(), '.'), names;
  const auto& columns = levels_.front().columns;
  for (size_t i = 0; i + 1 < columns.size(); ++i) {
    columns[i]->AppendHeading(weights);
    weights += between;
    if (i > 0) dots += separator_.empty() ? ".." : separator_;
    dots.append(columns[i]->width(), '.');
  }
  size_t widest = 0;
  for (size_t depth = 0; depth < levels_.size(); ++depth) {
    const Column& key = *levels_[depth].columns.back();
    std::string heading;
    key.AppendHeading(heading);
    names += depth == 0 ? "" : " / ";
    names += Trimmed(heading);
    widest = std::max(widest, depth * kIndent + key.width());
  }
  out += "# " + weights + names + "\n# " + dots;
  out += between;
  out.append(std::max(widest, names.size()), '.');
  out += "\n#\n";
}

void Hierarchy::AppendRows(RowGraphs& graphs, std::string& out, absl::FunctionRef<void()> flush) {
  const size_t rows = levels_.front().hist->rows().size();
  size_t left = options_.most_rows == 0 ? rows : options_.most_rows;
  for (size_t row = 0; row < rows && left > 0; ++row) {
    const size_t before = out.size();
    AppendRow(0, row, graphs, out, flush);
    if (out.size() != before) --left;
    flush();
  }
}

// Compares as floats, because perf does.
bool Hierarchy::IsHeavyEnough(const Level& level, size_t row) const {
  const Histogram& hist = *level.hist;
  const double percent = Percent(hist.rows()[row].children.period, hist.total().period);
  return static_cast<float>(percent) >= static_cast<float>(percent_limit_);
}

void Hierarchy::AppendRow(size_t depth, size_t row, RowGraphs& graphs, std::string& out,
                          absl::FunctionRef<void()> flush) {
  Level& level = levels_[depth];
  if (!level.is_shown[row] || !IsHeavyEnough(level, row)) return;
  const std::string_view between = separator_.empty() ? "  " : std::string_view(separator_);
  out.append(depth * kIndent, ' ');
  for (size_t i = 0; i + 1 < level.columns.size(); ++i) {
    if (i > 0 || separator_.empty()) out += between;
    const size_t start = out.size();
    level.columns[i]->AppendCell(row, out);
    const size_t printed = out.size() - start;
    out.append(level.columns[i]->width() - std::min(printed, level.columns[i]->width()), ' ');
  }
  out.append(Indent(), ' ').append(between);
  std::string cell;
  Column& key = *level.columns.back();
  key.AppendCell(row, cell);
  if (key.IsFilledUp() && cell.size() < key.width()) cell.append(key.width() - cell.size(), ' ');
  if (!separator_.empty()) std::replace(cell.begin(), cell.end(), separator_[0], '.');
  cell.erase(0, cell.find_first_not_of(' '));
  out += cell + '\n';
  if (level.below.empty()) return graphs.Append(row, out, flush);
  const std::vector<uint32_t>& below = level.below[row];
  const bool any = std::any_of(below.begin(), below.end(), [&](uint32_t inner) {
    return levels_[depth + 1].is_shown[inner] && IsHeavyEnough(levels_[depth + 1], inner);
  });
  if (!any) AppendNoEntry(depth, out);
  for (const uint32_t inner : below) AppendRow(depth + 1, inner, graphs, out, flush);
}

void Hierarchy::AppendNoEntry(size_t depth, std::string& out) const {
  size_t width = 4;
  for (size_t i = 0; i + 1 < levels_.front().columns.size(); ++i) {
    width += levels_.front().columns[i]->width() + (i == 0 ? 0 : 2);
  }
  const size_t indent = separator_.empty() ? (levels_.size() + depth) * kIndent : 0;
  out.append(indent + width, ' ');
  absl::StrAppendFormat(&out, "no entry >= %.2f%%\n", percent_limit_);
}

}  // namespace profiler::report

#include "src/views/top/report_lines.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/views/report/report.h"

namespace profiler::top {
namespace {

constexpr std::string_view kDots = "# .";
constexpr std::string_view kModes[] = {"[.] ", "[k] ", "[g] ", "[u] ", "[H] ", "[?] "};

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = text.find_last_not_of(' ');
  return end == text.npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

}  // namespace

double FirstPercentOf(std::string_view line, size_t* begin, size_t* end) {
  *begin = line.find_first_of("0123456789");
  *end = *begin == line.npos ? line.npos : line.find_first_not_of("0123456789.", *begin);
  if (*end == line.npos || line[*end] != '%') return -1;
  return std::strtod(std::string(line.substr(*begin, *end - *begin)).c_str(), nullptr);
}

ReportLines::ReportLines(const profile::Profile& profile, report::ReportOptions options,
                         const std::set<std::string>& unfolded) {
  if (unfolded.empty()) options.call_graph.type = report::CallGraphType::kNone;
  std::string text;
  report::WriteReport(profile, options, [&](std::string_view piece) { text += piece; });
  std::string before;
  size_t rows = 0;
  bool is_unfolded = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with('#')) {
      // The table of another event is not shown.
      if (rows > 0) break;
      if (line.starts_with(kDots)) TakeHeadings(before, std::string(line));
      before = line;
      continue;
    }
    if (Trimmed(line).empty()) continue;
    // Graphs begin behind the weights.
    size_t begin = 0, end = 0;
    const bool is_row = FirstPercentOf(line, &begin, &end) >= 0 && !columns_.empty() &&
                        end < columns_.front().end + 1;
    if (is_row) {
      lines_.push_back({.text = std::string(line), .is_row = true, .row = rows++});
      is_unfolded = unfolded.contains(NamesOf(lines_.back()).key);
    } else if (is_unfolded && rows > 0) {
      lines_.push_back({.text = std::string(line), .row = rows - 1});
    }
  }
}

// Takes the heading and the line of dots, which shows how wide the columns are.
void ReportLines::TakeHeadings(const std::string& headings, const std::string& dots) {
  headings_ = headings;
  if (!headings_.empty()) headings_.front() = ' ';
  columns_.clear();
  for (size_t begin = dots.find('.'); begin != dots.npos; begin = dots.find('.', begin)) {
    const size_t end = std::min(dots.find(' ', begin), dots.size());
    const std::string_view heading =
        std::string_view(headings).substr(std::min(begin, headings.size()), end - begin);
    columns_.push_back({.heading = std::string(Trimmed(heading)), .begin = begin, .end = end});
    begin = end;
  }
}

std::string ReportLines::CellOf(const ReportLine& row, std::string_view heading) const {
  for (const Column& column : columns_) {
    if (column.heading != heading || column.begin >= row.text.size()) continue;
    const bool is_last = &column == &columns_.back();
    return std::string(Trimmed(std::string_view(row.text).substr(
        column.begin, is_last ? std::string_view::npos : column.end - column.begin)));
  }
  return {};
}

RowNames ReportLines::NamesOf(const ReportLine& row) const {
  RowNames names{.comm = CellOf(row, "Command"),
                 .image = CellOf(row, "Shared Object"),
                 .function = CellOf(row, "Symbol")};
  for (const std::string_view mode : kModes) {
    if (names.function.starts_with(mode)) names.function.erase(0, mode.size());
  }
  const size_t percent = row.text.rfind("%  ");
  names.key = percent == std::string::npos ? row.text : row.text.substr(percent + 1);
  return names;
}

}  // namespace profiler::top

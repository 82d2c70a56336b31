#include "src/views/diff/text_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

namespace profiler::diff {
namespace {

constexpr size_t kMostDots = 60;

// Counts characters, because "±" has two bytes.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

void AppendLine(std::string_view start, const Cells& cells, std::span<const size_t> widths,
                size_t first_name, std::string& out) {
  out.append(start);
  for (size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::string room(widths[i] - WidthOf(cells[i]), ' ');
    const bool is_name = i >= first_name;
    out.append(is_name ? cells[i] : room).append(is_name ? room : cells[i]).append("  ");
  }
  out.append(cells.back()).append("\n");
}

}  // namespace

void AppendTable(const Cells& headings, std::span<const Cells> rows, std::string& out,
                 size_t first_name) {
  std::vector<size_t> widths(headings.size());
  const auto widen = [&](const Cells& cells) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], WidthOf(cells[i]));
  };
  widen(headings);
  for (const Cells& cells : rows) widen(cells);
  AppendLine("# ", headings, widths, first_name, out);
  Cells dots;
  for (const size_t width : widths) dots.emplace_back(std::min(width, kMostDots), '.');
  AppendLine("# ", dots, widths, first_name, out);
  for (const Cells& cells : rows) AppendLine("  ", cells, widths, first_name, out);
}

std::string PercentText(double share) { return absl::StrFormat("%.2f%%", 100 * share); }

}  // namespace profiler::diff

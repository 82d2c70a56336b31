#include "src/fleet/query/sums_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/shown_text.h"
#include "src/fleet/query/source_address.h"
#include "src/views/diff/text_table.h"

namespace profiler::fleet {
namespace {

// Returns the heading: "Build-id" for "build-id"; labels stay as they are.
std::string HeadingOf(const FieldName& name) {
  std::string text(name.field == Field::kLabel ? std::string_view(name.label) : NameOf(name.field));
  if (name.field != Field::kLabel)
    text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return Printable(text);
}

class Table {
 public:
  explicit Table(const AnsweredSums& sums) : sums_(sums), event_(sums.answer.event) {
    const std::vector<FieldName>& by = sums.question.by;
    event_key_ =
        static_cast<size_t>(std::ranges::find(by, Field::kEvent, &FieldName::field) - by.begin());
  }

  std::string Text() const {
    std::string out =
        absl::StrCat("# ", Printable(sums_.source), ": ",
                     Printable(TextOf(sums_.question.selection)), "\n# ", TotalText(), "\n");
    if (sums_.question.total) out += "# each sample counts for all functions of its stack\n";
    if (sums_.answer.sums.lines.size() == sums_.question.most) {
      absl::StrAppend(&out, "# the ", sums_.question.most, " heaviest rows; pass -n for more\n");
    }
    out += "#\n";
    std::vector<diff::Cells> rows;
    for (const Sum& line : sums_.answer.sums.lines) rows.push_back(CellsOf(line));
    diff::AppendTable(Headings(), rows, out, event_.empty() ? 2 : 3);
    return out;
  }

 private:
  std::string TotalText() const {
    const Sums& all = sums_.answer.sums;
    const std::string samples =
        absl::StrCat(all.samples, all.samples == 1 ? " sample" : " samples");
    if (event_.empty()) return absl::StrCat(samples, "; shares are of each event's total");
    return absl::StrCat(samples, ", ", analysis::AmountText(static_cast<double>(all.value), event_),
                        " of ", Printable(event_));
  }

  std::string AmountHeading() const {
    if (event_.empty()) return "Amount";
    if (!analysis::IsTime(event_)) return "Events";
    return event_.starts_with("cpu-clock") || event_.starts_with("task-clock") ? "CPU time"
                                                                               : "Time";
  }

  diff::Cells Headings() const {
    diff::Cells cells = {"Samples", AmountHeading()};
    if (!event_.empty()) cells.insert(cells.begin(), "Share");
    for (const FieldName& name : sums_.question.by) cells.push_back(HeadingOf(name));
    if (sums_.question.functions) cells.emplace_back("Function");
    if (cells.size() == FiguresOf()) cells.emplace_back("");
    return cells;
  }

  diff::Cells CellsOf(const Sum& line) const {
    const std::string& event = event_.empty() ? line.keys[event_key_] : event_;
    diff::Cells cells = {absl::StrCat(line.samples),
                         analysis::AmountText(static_cast<double>(line.value), event)};
    // There is no share if there are several events, because their values cannot be added up.
    if (!event_.empty()) {
      const auto all = static_cast<double>(std::max<uint64_t>(sums_.answer.sums.value, 1));
      cells.insert(cells.begin(),
                   absl::StrFormat("%.2f%%", 100 * static_cast<double>(line.value) / all));
    }
    for (const std::string& key : line.keys) cells.push_back(key.empty() ? "-" : Printable(key));
    if (cells.size() == FiguresOf()) cells.emplace_back("all");
    return cells;
  }

  size_t FiguresOf() const { return event_.empty() ? 2 : 3; }

  const AnsweredSums& sums_;
  const std::string& event_;
  size_t event_key_ = 0;
};

}  // namespace

std::string FormatSums(const AnsweredSums& sums) { return Table(sums).Text(); }

}  // namespace profiler::fleet

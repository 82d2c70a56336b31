#include "src/views/diff/diff_text.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/views/diff/command_difference.h"
#include "src/views/diff/text_table.h"

namespace profiler::diff {
namespace {

struct KeyWords {
  std::string_view heading, one, many;
};

KeyWords WordsOf(analysis::KeyBy by) {
  switch (by) {
    case analysis::KeyBy::kLine:
      return {"Line", "line", "lines"};
    case analysis::KeyBy::kPath:
      return {"Path", "path", "paths"};
    default:
      return {"Function", "function", "functions"};
  }
}

// Formats a name as code in a Markdown table, without characters that would end the cell or the
// code.
std::string MarkdownCode(std::string_view text) {
  std::string out = "`";
  for (const char c : Printable(text)) {
    if (c == '`') continue;
    if (c == '|') out += '\\';
    out += c;
  }
  return out + '`';
}

// Adds a line if at least 0.1 % of a group's samples are missing.
void AddMissing(std::string_view group, std::span<const Run> runs,
                std::vector<std::string>& lines) {
  constexpr double kLeast = 0.001;
  double taken = 0, all = 0;
  for (const Run& run : runs) {
    const auto samples = static_cast<double>(run.measured.samples);
    taken += samples;
    all += samples / (1 - run.measured.missing_part);
  }
  const double missing = all == 0 ? 0 : 1 - taken / all;
  if (missing < kLeast) return;
  lines.push_back(absl::StrFormat(
      "%.1f %% of the samples of %s are missing: shares are corrected for that, times are not",
      100 * missing, group));
}

// Describes a group of hosts in one line.
std::string DescribedHosts(std::string_view group, std::span<const Run> runs) {
  uint64_t samples = 0;
  double period = 0;
  for (const Run& run : runs) {
    samples += run.measured.samples;
    period += static_cast<double>(run.measured.period);
  }
  const std::string& event = runs[0].event;
  return absl::StrCat(Printable(group), ": ", runs.size(),
                      runs.size() == 1 ? " host, " : " hosts, ", samples, " samples, ",
                      analysis::AmountText(period, event), " of ", Printable(event));
}

void AddHosts(const HostGroups& hosts, std::span<const Run> before, std::span<const Run> after,
              std::vector<std::string>& lines) {
  lines.push_back(absl::StrCat("before: ", DescribedHosts(hosts.before, before)));
  lines.push_back(absl::StrCat("after:  ", DescribedHosts(hosts.after, after)));
  if (hosts.pairs > 0) {
    lines.push_back(absl::StrCat(hosts.pairs, " hosts are in both, each compared with itself",
                                 hosts.left_out == 0
                                     ? std::string()
                                     : absl::StrCat("; ", hosts.left_out, " others are left out")));
  }
  lines.push_back(
      "a share is a part of the total weight before, so changes of other functions do not change "
      "it");
}

// Returns the mean amount of the runs, in the event's unit.
double MeanAmount(std::span<const Run> runs) {
  double sum = 0;
  for (const Run& run : runs) sum += static_cast<double>(run.measured.period);
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

// True if the row became slower by more than its share's margin of error. A share that only grew
// because the whole shrank is not slower.
bool IsSlower(const Row& row, double all_after) {
  return row.share.difference() > 0 && row.after - row.before > row.share.half_width() * all_after;
}

// Says how the whole changed, and names the significant row with the largest part of that change.
std::string Overall(const Diff& diff, std::span<const Run> before, std::span<const Run> after) {
  const std::string& event = before[0].event;
  const double was = MeanAmount(before), is = MeanAmount(after);
  std::string line = absl::StrCat("overall: ", analysis::AmountText(was, event), " → ",
                                  analysis::AmountText(is, event), " of ", Printable(event));
  if (was > 0) absl::StrAppendFormat(&line, " (%+.1f %%)", 100 * (is - was) / was);
  const bool is_mean = before.size() > 1 || after.size() > 1;
  if (is_mean) line += ", mean of the runs";
  const Row* most = nullptr;
  for (const Row& row : diff.rows) {
    const double change = row.after - row.before;
    const bool has_direction = is > was ? change > 0 : change < 0;
    if (!row.significant || !has_direction) continue;
    if (most == nullptr || std::abs(change) > std::abs(most->after - most->before)) most = &row;
  }
  if (most == nullptr) return line;
  const double change = most->after - most->before;
  return absl::StrCat(
      line, std::abs(change) * 2 < std::abs(is - was) ? ", the largest part in " : ", mostly in ",
      Printable(most->name), " (", analysis::AmountText(change, event, true), ")");
}

// Describes both groups and the result, one line each.
std::vector<std::string> Preface(const Diff& diff, std::span<const Run> before,
                                 std::span<const Run> after, const TextOptions& options) {
  std::vector<std::string> lines;
  if (!options.hosts) lines.push_back(Overall(diff, before, after));
  const auto describe = [&lines](std::string_view title, std::span<const Run> runs) {
    for (const Run& run : runs) {
      lines.push_back(
          absl::StrCat(View(title), Printable(run.name), ": ", run.measured.samples, " samples, ",
                       analysis::AmountText(static_cast<double>(run.measured.period), run.event),
                       " of ", Printable(run.event)));
    }
  };
  if (options.hosts) {
    AddHosts(*options.hosts, before, after, lines);
  } else {
    describe("before: ", before);
    describe("after:  ", after);
  }
  AddMissing("before", before, lines);
  AddMissing("after", after, lines);
  if (std::string commands = DifferenceOfCommands(before, after).Text(); !commands.empty()) {
    lines.push_back(std::move(commands));
  }
  const auto significant = std::count_if(diff.rows.begin(), diff.rows.end(),
                                         [](const Row& row) { return row.significant; });
  const std::string compared = absl::StrCat(
      diff.rows.size(), " ",
      View(diff.rows.size() == 1 ? WordsOf(options.by).one : WordsOf(options.by).many),
      " compared, each ", options.weight == Weight::kSelf ? "by itself" : "with all that it calls");
  const double points = 100 * diff.smallest_detectable;
  constexpr double kWhole = 100;  // even a function that takes everything could go unnoticed
  lines.push_back(absl::StrCat(compared, ": ",
                               significant != 0
                                   ? absl::StrCat(significant, " changed by more than noise")
                               : points < kWhole ? "no significant change"
                                                 : "too few samples to find a change"));
  if (significant != 0)
    lines.push_back("about one in 100 rows shown is noise (normal variation between samples)");
  lines.push_back(
      points < kWhole
          ? absl::StrFormat("changes smaller than %.2f points of the whole may go unnoticed",
                            points)
          : "record longer, or with a higher -F, to see which functions changed");
  if (before.size() == 1 && after.size() == 1 && options.hosts) {
    lines.push_back(
        "only one host per side: normal variation between hosts may look like a change");
  } else if (before.size() == 1 && after.size() == 1) {
    lines.push_back("only one run per side: normal variation between runs may look like a change;");
    lines.push_back("compare several of each: profiler diff A1 A2 A3 -- B1 B2 B3");
  }
  return lines;
}

std::string ChangeText(const estimate::Change& change) {
  return absl::StrFormat("%+.2f ± %.2f", 100 * change.difference(), 100 * change.half_width());
}

class Table {
 public:
  Table(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
        const TextOptions& options)
      : diff_(diff), before_(before), after_(after), options_(options) {}

  std::string Text() {
    const std::vector<std::string> preface = Preface(diff_, before_, after_, options_);
    return options_.markdown ? Markdown(preface) : Plain(preface);
  }

 private:
  // Returns percentages, change, amounts, and name.
  Cells CellsOf(const Row& row) const {
    const std::string& event = before_[0].event;
    return {PercentText(row.share.before),
            PercentText(row.share.after),
            ChangeText(row.share),
            analysis::AmountText(row.before, event),
            analysis::AmountText(row.after, event),
            analysis::AmountText(row.after - row.before, event, true),
            options_.markdown ? MarkdownCode(row.name) : Printable(row.name)};
  }

  std::vector<Cells> Rows() const {
    std::vector<const Row*> shown;
    for (const Row& row : diff_.rows) {
      if (row.significant || options_.all) shown.push_back(&row);
    }
    if (options_.slower_first) {
      const double all = MeanAmount(after_);
      std::ranges::stable_partition(shown, [all](const Row* row) { return IsSlower(*row, all); });
    }
    std::vector<Cells> rows;
    for (const Row* const row : shown) rows.push_back(CellsOf(*row));
    return rows;
  }

  Cells Headings() const {
    return {"Before",
            "After",
            "Change in points",
            options_.hosts ? "Before, each" : "Before",
            options_.hosts ? "After, each" : "After",
            "Change",
            std::string(WordsOf(options_.by).heading)};
  }

  std::string Plain(const std::vector<std::string>& preface) const {
    std::string out;
    for (const std::string& line : preface) absl::StrAppend(&out, "# ", line, "\n");
    out += "#\n";
    const std::vector<Cells> rows = Rows();
    if (rows.empty()) return out;
    AppendTable(Headings(), rows, out);
    return out;
  }

  std::string Markdown(const std::vector<std::string>& preface) const {
    std::string out;
    for (const std::string& line : preface) absl::StrAppend(&out, "- ", line, "\n");
    const std::vector<Cells> rows = Rows();
    if (rows.empty()) return out;
    out += "\n";
    const auto append = [&out](const Cells& cells) {
      for (const std::string& cell : cells) absl::StrAppend(&out, "| ", cell, " ");
      out += "|\n";
    };
    append(Headings());
    out += "| ---: | ---: | ---: | ---: | ---: | ---: | :--- |\n";
    for (const Cells& cells : rows) append(cells);
    return out;
  }

  const Diff& diff_;
  const std::span<const Run> before_, after_;
  const TextOptions& options_;
};

}  // namespace

std::string FormatDiff(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
                       const TextOptions& options) {
  return Table(diff, before, after, options).Text();
}

}  // namespace profiler::diff

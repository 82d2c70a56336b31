#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "src/analysis/amount.h"
#include "src/analysis/name_rules.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/profile/losses_text.h"
#include "src/views/summary/summary.h"

namespace profiler::summary {
namespace {

constexpr std::string_view kUsualPath = "perf.data";  // default input of every view
constexpr double kLeastMissing = 0.0005;              // less would print as 0.0 %

std::string Percent(double part) { return absl::StrFormat("%.1f %%", 100 * part); }

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

// Returns the number of UTF-8 characters.
size_t WidthOf(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, IsContinuation));
}

// Shortens a name to `width` characters. Cuts its end, because the beginning says more.
std::string Shortened(std::string_view name, size_t width) {
  std::string text = Printable(name);
  if (WidthOf(text) <= width) return text;
  size_t end = 0;
  for (size_t left = std::max<size_t>(width, 1); end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && left-- == 1) break;
  }
  return text.substr(0, end) + "…";
}

// Returns the size of the longest prefix of at most `width` characters.
size_t PrefixOf(std::string_view text, size_t width) {
  size_t end = 0;
  while (end < text.size() && (width != 0 || IsContinuation(text[end]))) {
    if (!IsContinuation(text[end])) --width;
    ++end;
  }
  return end;
}

// Shortens a name to `width` characters. Cuts its middle.
std::string WithoutMiddle(std::string_view name, size_t width) {
  const size_t all = WidthOf(name), kept = std::max<size_t>(width, 1) - 1;
  if (all <= width) return std::string(name);
  return absl::StrCat(View(name.substr(0, PrefixOf(name, kept - kept / 2))), "…",
                      View(name.substr(PrefixOf(name, all - kept / 2))));
}

// Shortens the name of a function to `width` characters so that its own name stays visible. First
// omits template arguments, then the return type, then the end of the parameters, which tells
// overloads apart. Cuts the middle of the name only if all that is not enough.
std::string ShortenedFunction(std::string_view name, size_t width) {
  const std::string whole = Printable(name);
  if (WidthOf(whole) <= width) return whole;
  const std::string folded = analysis::SimplifiedName(whole, {.fold_templates = 0});
  if (WidthOf(folded) <= width) return folded;
  const std::string bare = analysis::SimplifiedName(folded, {.strip_args = true});
  if (WidthOf(bare) > width) return WithoutMiddle(bare, width);
  const size_t begin = folded.find(bare);
  return begin == folded.npos ? bare : Shortened(std::string_view(folded).substr(begin), width);
}

// True if the function can probably be annotated. The kernel's code is seldom available, and code
// of a perf map is gone with its process.
bool HasCode(const FunctionShare& function) {
  return !function.compiled_into.empty() && !function.image.starts_with('[') &&
         !function.image.ends_with(".map");
}

// A list of the text: a title, and as many rows as there is room for.
struct Section {
  std::vector<std::string> title;
  size_t rows = 0;               // number of rows
  size_t shown = 0;              // number of rows that are shown
  bool has_rest = false;         // True if a further line describes the rows that are not shown.
  bool is_of_functions = false;  // True if -n sets the number of its rows.
  std::function<std::vector<std::string>(size_t shown)> lines;  // returns the rows, and the rest
};

class Text {
 public:
  Text(const Summary& summary, const json::RecordingFacts& recording, const Layout& layout)
      : summary_(summary), recording_(recording), layout_(layout) {}

  std::string Write() && {
    AppendHeading();
    if (summary_.samples == 0) {
      Paragraph("No sample was taken: the process was idle, or it ended before the first sample.");
      Paragraph("To see what an idle process waits for: profiler record --off-cpu");
      return std::move(out_);
    }
    const std::string heading = std::exchange(out_, {});
    AppendWhere();
    AppendTrust();
    AppendNext();
    const std::string ending = std::exchange(out_, {});
    std::vector<Section> sections = Sections();
    Fill(sections, LinesOf(heading) + LinesOf(ending));
    out_ = heading;
    for (const Section& section : sections) AppendSection(section);
    return out_ + ending;
  }

 private:
  static size_t LinesOf(std::string_view text) {
    return static_cast<size_t>(std::ranges::count(text, '\n'));
  }

  void Line(std::string_view text) { absl::StrAppend(&out_, View(text), "\n"); }

  // Adds a text, broken between words. `indent` precedes each line except the first.
  void Paragraph(std::string_view text, size_t indent = 0) {
    std::string line;
    const std::vector<std::string> words = absl::StrSplit(View(text), ' ', absl::SkipEmpty());
    for (const std::string& word : words) {
      if (!line.empty() && WidthOf(line) + 1 + WidthOf(word) > layout_.columns) {
        Line(line);
        line = std::string(indent, ' ');
      } else if (!line.empty()) {
        line += ' ';
      }
      line += word;
    }
    Line(line);
  }

  void AppendHeading() {
    std::string line = Printable(recording_.path);
    if (!recording_.command.empty()) absl::StrAppend(&line, ": ", Printable(recording_.command));
    Line(Shortened(line, layout_.columns));
    if (summary_.samples == 0) return;
    line = absl::StrCat(analysis::AmountText(summary_.amount, summary_.event), " of ",
                        Printable(summary_.event), " in ", summary_.samples,
                        summary_.samples == 1 ? " sample" : " samples");
    if (recording_.seconds > 0)
      absl::StrAppendFormat(&line, ", taken in %.1f s", recording_.seconds);
    absl::StrAppend(&line, ". ", LossText());
    Paragraph(line);
    if (IsIdle()) {
      Paragraph(
          "The process was idle most of the time. Try profiler record --off-cpu, which shows "
          "its waits.");
    }
    if (summary_.switches != 0) {
      Paragraph(absl::StrCat("Times are exact. Their functions are estimated, because ",
                             summary_.sampled_switches, " of ", summary_.switches,
                             " context switches have a stack."));
    }
  }

  std::string LossText() const {
    const std::string losses = profile::LossesText(summary_.losses);
    if (losses.empty()) return "Nothing was lost.";
    const std::string text = absl::StrCat("Lost: ", losses, ".");
    // A throttled event has lost no samples, but taken fewer.
    if (summary_.missing_part < kLeastMissing) return text;
    return absl::StrCat(text, " So ", Percent(summary_.missing_part),
                        " of the samples are missing; shares are corrected for them, times and "
                        "counts are not.");
  }

  // True if the recorded threads ran for less than a fiftieth of the recorded time, and the
  // recording does not show what they waited for.
  bool IsIdle() const {
    constexpr double kNanoseconds = 1e9, kBusy = 0.02;
    return analysis::IsTime(summary_.event) && summary_.waits.amount == 0 && summary_.idle == 0 &&
           summary_.amount < kBusy * kNanoseconds * recording_.seconds;
  }

  std::vector<Section> Sections() const {
    std::vector<Section> sections;
    const bool has_own = HasOwnList();
    const std::string error = summary_.is_count ? "(counts are exact)" : "(± is the 95 % interval)";
    if (has_own) {
      sections.push_back(
          {.title = {"",
                     absl::StrCat("Where it goes, by function of your code with callees ", error)},
           .rows = summary_.own.size(),
           .is_of_functions = true,
           .lines = [this](size_t shown) { return RowsOf(summary_.own, shown); }});
    }
    Section leaves = {.title = {"The heaviest functions by themselves"},
                      .rows = summary_.leaves.size(),
                      .has_rest = true,
                      .is_of_functions = true,
                      .lines = [this](size_t shown) {
                        std::vector<std::string> rows = RowsOf(summary_.leaves, shown);
                        if (shown < summary_.all_leaves) rows.push_back(OtherLeaves(shown));
                        return rows;
                      }};
    if (!has_own) leaves.title = {"", absl::StrCat("Where it goes, by function ", error)};
    if (leaves.rows != 0) sections.push_back(std::move(leaves));
    AddWaits(sections);
    AddPath(sections);
    return sections;
  }

  // True if own code is worth a list: without callers, it would repeat the other list.
  bool HasOwnList() const { return summary_.has_chains && !summary_.own.empty(); }

  std::vector<std::string> RowsOf(const std::vector<FunctionShare>& functions, size_t shown) const {
    std::vector<std::string> rows;
    for (size_t i = 0; i < shown; ++i) rows.push_back(RowOf(functions[i]));
    return rows;
  }

  std::string RowOf(const FunctionShare& function) const {
    constexpr size_t kShortest = 20;
    const double half = 100 * function.share.interval.half_width();
    std::string row = absl::StrFormat("%7.1f", 100 * function.share.part);
    // Two digits instead of "± 0.0", because no share is that certain.
    if (!summary_.is_count) absl::StrAppendFormat(&row, " ± %-4.*f", half < 0.095 ? 2 : 1, half);
    absl::StrAppend(&row, " %  ", AmountCell(function.share.amount), "  ");
    const size_t room = layout_.columns - std::min(layout_.columns, WidthOf(row));
    const std::string image = "  " + Shortened(function.image, kShortest);
    std::string source;
    if (!function.source.empty()) source = "  " + Shortened(function.source, kShortest);
    const size_t name = WidthOf(Printable(function.name));
    // The line is the first part to go if the name needs its room.
    if (std::min(name, kShortest) + WidthOf(image) + WidthOf(source) > room) source.clear();
    const size_t around = WidthOf(image) + WidthOf(source);
    return absl::StrCat(row,
                        ShortenedFunction(function.name, room > around ? room - around : kShortest),
                        image, source);
  }

  // Returns the amount, padded to the width of the total amount.
  std::string AmountCell(double amount) const {
    const std::string all = analysis::AmountText(summary_.amount, summary_.event);
    return absl::StrFormat("%*s", all.size(), analysis::AmountText(amount, summary_.event));
  }

  std::string OtherLeaves(size_t shown) const {
    const size_t others = summary_.all_leaves - shown;
    double part = summary_.leaves_part, amount = summary_.leaves_amount;
    for (size_t i = 0; i < shown; ++i) {
      part -= summary_.leaves[i].share.part;
      amount -= summary_.leaves[i].share.amount;
    }
    return absl::StrFormat("%7.1f %s%%  %s  %d other %s", 100 * std::max(part, 0.0),
                           summary_.is_count ? "" : "      ", AmountCell(std::max(amount, 0.0)),
                           others, others == 1 ? "function" : "functions");
  }

  // Returns a warning about the first functions that cannot be ranked; one warning is enough.
  std::string TieText() const {
    constexpr size_t kShown = 3, kWidth = 24;
    for (size_t i = 0; i + 1 < std::min(summary_.leaves.size(), kShown); ++i) {
      const FunctionShare& function = summary_.leaves[i];
      if (function.samples_to_tell <= summary_.samples) continue;
      return absl::StrCat("Too few samples to rank ", ShortenedFunction(function.name, kWidth),
                          " and ", ShortenedFunction(summary_.leaves[i + 1].name, kWidth),
                          "; about ", function.samples_to_tell, " are needed. ");
    }
    return {};
  }

  void AddWaits(std::vector<Section>& sections) const {
    if (summary_.waits.kinds.empty()) return;
    sections.push_back({.title = {absl::StrCat(
                            "Waiting: ", analysis::AmountText(summary_.waits.amount, kBlockedEvent),
                            " of all threads, for")},
                        .rows = summary_.waits.kinds.size(),
                        .lines = [this](size_t shown) { return WaitRows(shown); }});
  }

  std::vector<std::string> WaitRows(size_t shown) const {
    constexpr size_t kLeastRoom = 8;
    std::vector<std::string> rows;
    for (size_t i = 0; i < shown; ++i) {
      const Wait& wait = summary_.waits.kinds[i];
      std::string row =
          absl::StrFormat("%7.1f %%  %s  %s", 100 * wait.amount / summary_.waits.amount,
                          analysis::AmountText(wait.amount, kBlockedEvent), wait.kind);
      if (!wait.function.empty()) absl::StrAppend(&row, " (", Printable(wait.function), ")");
      if (!wait.in.empty()) {
        row += " in ";
        const size_t room = layout_.columns - std::min(layout_.columns, WidthOf(row));
        row += ShortenedFunction(wait.in, std::max(room, kLeastRoom));
      }
      rows.push_back(Shortened(row, layout_.columns));
    }
    return rows;
  }

  void AddPath(std::vector<Section>& sections) const {
    if (!summary_.has_chains) return;
    std::vector<PathStep> path = ShownPath();
    if (path.size() < 2) return;
    constexpr size_t kMostSteps = 8;
    const size_t rows = std::min(path.size(), kMostSteps);
    sections.push_back(
        {.title =
             {"The busiest path: who called whom, with the share of each call and its callees"},
         .rows = rows,
         .lines = [this, path = std::move(path)](size_t shown) { return PathRows(path, shown); }});
  }

  // Returns the path without the functions above the outermost named function of the user's code,
  // and without the state of a waiting thread at its end.
  std::vector<PathStep> ShownPath() const {
    std::vector<PathStep> path = summary_.whole_path;
    const auto own = std::ranges::find_if(path, &PathStep::is_own);
    if (own != path.end()) path.erase(path.begin(), own);
    constexpr std::array<std::string_view, 2> kStates = {"[blocked]", "[preempted]"};
    if (!path.empty() && std::ranges::count(kStates, path.back().function) != 0) path.pop_back();
    return path;
  }

  // Returns `most` lines of the path, with "…" in place of its middle.
  std::vector<std::string> PathRows(const std::vector<PathStep>& path, size_t most) const {
    std::vector<std::string> rows;
    const bool is_whole = path.size() <= most;
    const size_t outer = is_whole ? path.size() : most / 2;
    const auto add = [&](const PathStep& step) {
      std::string row =
          absl::StrFormat("%7.1f %%  %s", 100 * step.part, std::string(rows.size(), ' '));
      std::string source = step.source.empty() ? "" : "  " + Printable(step.source);
      const size_t room = layout_.columns - std::min(layout_.columns, WidthOf(row));
      if (WidthOf(step.function) + WidthOf(source) > room) source.clear();
      rows.push_back(absl::StrCat(row, ShortenedFunction(step.function, room), source));
    };
    for (size_t i = 0; i < outer; ++i) add(path[i]);
    if (is_whole) return rows;
    const size_t inner = most - outer - 1;
    rows.push_back(absl::StrFormat("%11s%s… %d more calls", "", std::string(rows.size(), ' '),
                                   path.size() - outer - inner));
    for (size_t i = path.size() - inner; i < path.size(); ++i) add(path[i]);
    return rows;
  }

  // Decides how many rows of each section are shown. Each section in turn gets one row until the
  // text fills the terminal. Each section has a least number of rows.
  void Fill(std::vector<Section>& sections, size_t used) const {
    constexpr size_t kLeast = 3;
    // One line is for the prompt. less(1) also waits for a key if a text leaves only one line.
    constexpr size_t kFree = 2;
    for (Section& section : sections) {
      section.shown = std::min(kLeast, section.rows);
      used += section.title.size() + section.shown + (section.has_rest ? 1 : 0);
    }
    for (bool has_more = true; has_more && used + kFree < layout_.lines;) {
      has_more = false;
      for (Section& section : sections) {
        if (section.shown == section.rows || used + kFree >= layout_.lines) continue;
        ++section.shown;
        ++used;
        has_more = true;
      }
    }
    if (layout_.functions == 0) return;
    for (Section& section : sections) {
      if (section.is_of_functions) section.shown = std::min(layout_.functions, section.rows);
    }
  }

  void AppendSection(const Section& section) {
    for (const std::string& line : section.title) Line(Shortened(line, layout_.columns));
    for (const std::string& line : section.lines(section.shown)) Line(line);
  }

  void AppendWhere() {
    std::string text =
        absl::StrCat("User code ", Percent(summary_.user), ", kernel ", Percent(summary_.kernel));
    if (summary_.idle > 0) absl::StrAppend(&text, ", idle ", Percent(summary_.idle));
    if (summary_.elsewhere > 0.0005) {
      absl::StrAppend(&text, summary_.waits.amount > 0 ? ", waiting " : ", elsewhere ",
                      Percent(summary_.elsewhere));
    }
    text += ".";
    if (summary_.threads.size() > 1) absl::StrAppend(&text, " Threads: ", ThreadsText(), ".");
    Paragraph(text);
  }

  std::string ThreadsText() const {
    std::string text;
    for (const ThreadShare& thread : summary_.threads) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", Shortened(thread.name, 16), " ",
                      Percent(thread.part));
      if (thread.threads > 1) absl::StrAppend(&text, " (", thread.threads, " threads)");
    }
    if (summary_.other_threads != 0) {
      absl::StrAppend(&text, ", and ", summary_.other_threads, " other ",
                      summary_.other_threads == 1 ? "name" : "names");
    }
    return text;
  }

  std::string ChainsText() const {
    if (summary_.whole_chains) {
      return absl::StrCat("Stacks: ", Percent(*summary_.whole_chains), " by weight are whole.");
    }
    if (summary_.chains.chains() != 0) {
      return absl::StrCat("Stacks: ",
                          Percent(static_cast<double>(summary_.chains.whole()) /
                                  static_cast<double>(summary_.chains.chains())),
                          " are whole.");
    }
    if (summary_.chains.by_kernel != 0) {
      return absl::StrCat("Stacks: ",
                          Percent(static_cast<double>(summary_.chains.broken) /
                                  static_cast<double>(summary_.chains.by_kernel)),
                          " are visibly broken; they were followed by frame pointers, which many "
                          "programs do not keep.");
    }
    return summary_.has_chains ? "" : "Stacks: none were recorded, so no callers are known.";
  }

  void AppendTrust() {
    std::string text = absl::StrCat(TieText(), ChainsText(), " Names: ", Percent(summary_.named),
                                    " of the weight is in functions with a name");
    if (summary_.most_unnamed) {
      absl::StrAppend(&text, "; most of the rest is in ", Printable(summary_.most_unnamed->name),
                      " (", Percent(summary_.most_unnamed->part), ")");
    }
    Paragraph(text + ".");
    if (summary_.most_unnamed && !layout_.symbols_remedy.empty()) {
      Paragraph(absl::StrCat("To name ", Printable(summary_.most_unnamed->name), ": ",
                             layout_.symbols_remedy, "."));
    }
    if (!summary_.python) return;
    Paragraph(absl::StrCat(analysis::MissingText(*summary_.python), ": ",
                           analysis::RemedyText(*summary_.python), "."));
  }

  struct Advice {
    std::string command;
    std::string_view why;
  };

  // Adds a command to the advice. `more` follows the input file, which is omitted if it is the
  // default.
  void Advise(std::string_view command, std::string_view more, std::string_view why) {
    std::string text = absl::StrCat("profiler ", View(command));
    if (recording_.path != kUsualPath) absl::StrAppend(&text, " -i ", ShellWord(recording_.path));
    if (!layout_.options.empty()) absl::StrAppend(&text, " ", layout_.options);
    absl::StrAppend(&text, more.empty() ? "" : " ", View(more));
    advice_.push_back({std::move(text), why});
  }

  void AppendAdvice() {
    constexpr size_t kWidest = 60;  // a longer command only shifts its own reason
    size_t width = 0;
    for (const Advice& advice : advice_) {
      if (advice.command.size() <= kWidest) width = std::max(width, advice.command.size());
    }
    // Commands are never cut. A reason that does not fit behind its command is left out. If another
    // reason does not fit in a column of reasons, all reasons follow their commands directly.
    constexpr size_t kAround = 4;  // blanks before a command and behind it
    const bool has_column = std::ranges::none_of(advice_, [&](const Advice& advice) {
      const size_t size = kAround + advice.why.size();
      return advice.command.size() + size <= layout_.columns &&
             std::max(width, advice.command.size()) + size > layout_.columns;
    });
    for (const Advice& advice : advice_) {
      std::string line = "  " + advice.command;
      const size_t column =
          kAround + (has_column ? std::max(width, advice.command.size()) : advice.command.size());
      if (column + advice.why.size() <= layout_.columns) {
        line.append(column - line.size(), ' ').append(advice.why);
      }
      Line(line);
    }
  }

  void AppendNext() {
    constexpr double kMuchUnnamed = 0.02, kManyCut = 0.05;
    if (recording_.path == "-") return;  // a pipe's recording cannot be read again
    Line("To see more");
    const auto shown = std::ranges::find_if(summary_.leaves, HasCode);
    if (shown != summary_.leaves.end()) {
      Advise("annotate", ShellWord(shown->compiled_into), "its lines and instructions");
    }
    Advise("report", summary_.has_chains ? "" : "--no-children",
           summary_.has_chains ? "all functions and their callers" : "all functions");
    if (!summary_.has_chains) {
      advice_.push_back({"profiler record -g -- COMMAND", "records callers"});
    }
    if (1 - summary_.named > kMuchUnnamed) {
      Advise("report", "--unresolved", "how to get missing names");
    }
    const auto chains = static_cast<double>(summary_.chains.chains());
    const double cut = summary_.whole_chains
                           ? 1 - *summary_.whole_chains
                           : static_cast<double>(summary_.chains.cut()) / std::max(chains, 1.0);
    if (cut > kManyCut) Advise("report", "--chains", "why stacks end early, and what to do");
    if (summary_.has_chains) Advise("flamegraph", "-o flame.svg", "all of it in one picture");
    if (summary_.threads.size() > 1) Advise("report", "-s comm,tid -g none", "by thread");
    constexpr size_t kMostAdvice = 3, kTall = 30;
    if (layout_.lines < kTall && advice_.size() > kMostAdvice) advice_.resize(kMostAdvice);
    AppendAdvice();
  }

  const Summary& summary_;
  const json::RecordingFacts& recording_;
  const Layout& layout_;
  std::vector<Advice> advice_;
  std::string out_;
};

}  // namespace

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain = "_./-+:@%,=";
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  });
  if (is_plain) return std::string(text);
  std::string word = "'";
  for (const char c : Printable(text)) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string FormatSummary(const Summary& summary, const json::RecordingFacts& recording,
                          const Layout& layout) {
  return Text(summary, recording, layout).Write();
}

}  // namespace profiler::summary

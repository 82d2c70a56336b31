#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/profile/losses_text.h"
#include "src/views/summary/summary.h"

namespace profiler::summary {
namespace {

constexpr size_t kNameWidth = 46;
constexpr std::string_view kUsualPath = "perf.data";  // default input of every view
constexpr double kLeastMissing = 0.0005;              // less would print as 0.0 %

std::string Percent(double part) { return absl::StrFormat("%.1f %%", 100 * part); }

// Shortens a name to `width` bytes. Cuts its end, because the beginning says more.
std::string Shortened(std::string_view name, size_t width) {
  std::string text = Printable(name);
  if (text.size() <= width) return text;
  size_t end = width - 1;
  // Does not cut a UTF-8 character in two.
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Quotes a text as one word of a shell command line.
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

// True if the function can probably be annotated. The kernel's code is seldom available, and code
// of a perf map is gone with its process.
bool HasCode(const FunctionShare& function) {
  return !function.compiled_into.empty() && !function.image.starts_with('[') &&
         !function.image.ends_with(".map");
}

class Text {
 public:
  Text(const Summary& summary, const json::RecordingFacts& recording)
      : summary_(summary), recording_(recording) {}

  std::string Write() && {
    AppendHeading();
    if (summary_.samples == 0) {
      Line("No sample was taken: what was recorded hardly ran, or was done before the first one.");
      return std::move(out_);
    }
    AppendFunctions();
    AppendPath();
    AppendWhere();
    AppendTrust();
    AppendNext();
    return std::move(out_);
  }

 private:
  void Line(std::string_view text) { absl::StrAppend(&out_, View(text), "\n"); }

  void AppendHeading() {
    std::string line = Printable(recording_.path);
    if (!recording_.command.empty()) {
      absl::StrAppend(&line, ": ", Shortened(recording_.command, 2 * kNameWidth));
    }
    Line(line);
    if (summary_.samples == 0) return;
    line = absl::StrCat(analysis::AmountText(summary_.amount, summary_.event), " of ",
                        Printable(summary_.event), " in ", summary_.samples, " samples");
    if (recording_.seconds > 0)
      absl::StrAppendFormat(&line, ", taken in %.1f s", recording_.seconds);
    Line(line);
  }

  void AppendFunctions() {
    Line("");
    Line(summary_.is_count
             ? "Where it goes, by function (counts are exact; there is no confidence interval)"
             : "Where it goes, by function (± is the 95 % interval)");
    if (summary_.switches != 0) {
      Line(absl::StrCat("  Times are exact. Which functions have them is estimated: ",
                        summary_.sampled_switches));
      Line(absl::StrCat("  of ", summary_.switches, " context switches have a stack."));
    }
    for (const FunctionShare& function : summary_.functions) {
      const double half = 100 * function.share.interval.half_width();
      std::string line = absl::StrFormat("%7.1f", 100 * function.share.part);
      // Two digits instead of "± 0.0", because no share is that certain.
      if (!summary_.is_count) absl::StrAppendFormat(&line, " ± %-4.*f", half < 0.095 ? 2 : 1, half);
      absl::StrAppend(&line, " %  ", AmountCell(function.share.amount), "  ",
                      Shortened(function.name, kNameWidth), "  ", Printable(function.image));
      if (!function.source.empty()) absl::StrAppend(&line, "  ", Printable(function.source));
      Line(line);
    }
    if (summary_.others != 0) {
      Line(absl::StrFormat("%7.1f %s%%  %s  %d other %s", 100 * summary_.others_part,
                           summary_.is_count ? "" : "      ", AmountCell(summary_.others_amount),
                           summary_.others, summary_.others == 1 ? "function" : "functions"));
    }
    AppendTies();
  }

  // Returns the amount, padded to the width of the total amount.
  std::string AmountCell(double amount) const {
    const std::string all = analysis::AmountText(summary_.amount, summary_.event);
    return absl::StrFormat("%*s", all.size(), analysis::AmountText(amount, summary_.event));
  }

  // Warns about the first functions that cannot be ranked; one warning is enough.
  void AppendTies() {
    for (size_t i = 0; i + 1 < summary_.functions.size(); ++i) {
      const FunctionShare& function = summary_.functions[i];
      if (function.samples_to_tell <= summary_.samples) continue;
      constexpr size_t kWidth = 30;
      Line(absl::StrCat("  So few samples do not tell which has more, ",
                        Shortened(function.name, kWidth), " or"));
      Line(absl::StrCat("  ", Shortened(summary_.functions[i + 1].name, kWidth), "; some ",
                        function.samples_to_tell, " would."));
      return;
    }
  }

  void AppendPath() {
    if (!summary_.has_chains || summary_.path.size() < 2) return;
    Line("");
    Line("The busiest path: who called whom, with the share of each call and all below it");
    for (size_t i = 0; i < summary_.path.size(); ++i) {
      const PathStep& step = summary_.path[i];
      std::string line = absl::StrFormat("%7.1f %%  %s%s", 100 * step.part, std::string(i, ' '),
                                         Shortened(step.function, kNameWidth));
      if (!step.source.empty()) absl::StrAppend(&line, "  ", Printable(step.source));
      Line(line);
    }
  }

  void AppendWhere() {
    Line("");
    std::string line = absl::StrCat("Programs' own code ", Percent(summary_.user), ", the kernel ",
                                    Percent(summary_.kernel), " (for them)");
    if (summary_.idle > 0) absl::StrAppend(&line, ", idle ", Percent(summary_.idle));
    if (summary_.elsewhere > 0.0005) {
      absl::StrAppend(&line, ", elsewhere ", Percent(summary_.elsewhere));
    }
    Line(line);
    AppendThreads();
  }

  void AppendThreads() {
    constexpr size_t kWidest = 80;
    std::string line = "Threads:";
    const auto add = [&](std::string_view text) {
      if (line.size() + text.size() > kWidest) {
        Line(line + ",");
        line = "        ";
      } else if (line != "Threads:") {
        line += ",";
      }
      absl::StrAppend(&line, " ", View(text));
    };
    for (const ThreadShare& thread : summary_.threads) {
      std::string text = absl::StrCat(Shortened(thread.name, 16), " ", Percent(thread.part));
      if (thread.threads > 1) absl::StrAppend(&text, " (", thread.threads, " threads)");
      add(text);
    }
    if (summary_.other_threads != 0) {
      add(absl::StrCat("and ", summary_.other_threads, " other names"));
    }
    Line(line);
  }

  void AppendLosses() {
    const std::string losses = profile::LossesText(summary_.losses);
    Line(losses.empty() ? "Nothing was lost." : absl::StrCat("Lost: ", losses, "."));
    // A throttled event has lost no samples, but taken fewer.
    if (summary_.missing_part < kLeastMissing) return;
    Line(absl::StrCat("So ", Percent(summary_.missing_part),
                      " of the samples are missing. Shares make up for them by those around each "
                      "gap; times and counts have none of them."));
  }

  void AppendTrust() {
    Line("");
    AppendLosses();
    if (summary_.whole_chains) {
      Line(absl::StrCat("Stacks: ", Percent(*summary_.whole_chains),
                        " by weight are whole, from where the thread began."));
    } else if (summary_.chains.chains() != 0) {
      Line(absl::StrCat("Stacks: ",
                        Percent(static_cast<double>(summary_.chains.whole()) /
                                static_cast<double>(summary_.chains.chains())),
                        " are whole, from where the thread began."));
    } else if (summary_.chains.by_kernel != 0) {
      Line(absl::StrCat("Stacks: ",
                        Percent(static_cast<double>(summary_.chains.broken) /
                                static_cast<double>(summary_.chains.by_kernel)),
                        " are visibly broken; they were followed by frame pointers, which many "
                        "programs do not keep."));
    } else if (!summary_.has_chains) {
      Line("Stacks: none were recorded, so nobody's caller is known.");
    }
    std::string line =
        absl::StrCat("Names: ", Percent(summary_.named), " of it is in functions with a name");
    if (summary_.most_unnamed) {
      absl::StrAppend(&line, "; most of the rest is in ", Printable(summary_.most_unnamed->name),
                      " (", Percent(summary_.most_unnamed->part), ")");
    }
    Line(line + ".");
    if (!summary_.python) return;
    Line(analysis::MissingText(*summary_.python) + ":");
    Line(absl::StrCat("  ", analysis::RemedyText(*summary_.python), "."));
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
    absl::StrAppend(&text, more.empty() ? "" : " ", View(more));
    advice_.push_back({std::move(text), why});
  }

  void AppendAdvice() {
    constexpr size_t kWidest = 60;  // a longer command only shifts its own reason
    size_t width = 0;
    for (const Advice& advice : advice_) {
      if (advice.command.size() <= kWidest) width = std::max(width, advice.command.size());
    }
    for (Advice& advice : advice_) {
      advice.command.resize(std::max(width, advice.command.size()), ' ');
      Line(absl::StrCat("  ", advice.command, "  ", View(advice.why)));
    }
  }

  void AppendNext() {
    constexpr double kMuchUnnamed = 0.02, kManyCut = 0.05;
    if (recording_.path == "-") return;  // a pipe's recording cannot be read again
    Line("");
    Line("To see more");
    const auto shown = std::find_if(summary_.functions.begin(), summary_.functions.end(), HasCode);
    if (shown != summary_.functions.end()) {
      Advise("annotate", ShellWord(shown->compiled_into), "its lines and instructions");
    }
    Advise("report", summary_.has_chains ? "" : "--no-children",
           summary_.has_chains ? "all functions, and who called them" : "all functions");
    if (summary_.has_chains) Advise("flamegraph", "-o flame.svg", "all of it in one picture");
    if (summary_.threads.size() > 1) Advise("report", "-s comm,tid -g none", "by thread");
    if (!summary_.has_chains) {
      advice_.push_back({"profiler record -g -- COMMAND", "records who called, too"});
    }
    if (1 - summary_.named > kMuchUnnamed) {
      Advise("report", "--unresolved", "what has no name, and what would mend it");
    }
    const auto chains = static_cast<double>(summary_.chains.chains());
    const double cut = summary_.whole_chains
                           ? 1 - *summary_.whole_chains
                           : static_cast<double>(summary_.chains.cut()) / std::max(chains, 1.0);
    if (cut > kManyCut) {
      Advise("report", "--chains", "why stacks end early, and what would mend it");
    }
    AppendAdvice();
  }

  const Summary& summary_;
  const json::RecordingFacts& recording_;
  std::vector<Advice> advice_;
  std::string out_;
};

}  // namespace

std::string FormatSummary(const Summary& summary, const json::RecordingFacts& recording) {
  return Text(summary, recording).Write();
}

}  // namespace profiler::summary

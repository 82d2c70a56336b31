#include "src/cli/usage/manual.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/base/text.h"
#include "src/cli/usage/command_pages.h"

namespace profiler::usage {
namespace {

std::string Heading(const std::string& title, const Usage& usage) {
  // ".ad l" aligns lines to the left. Justified lines would have wide gaps, because values contain
  // long words.
  return absl::StrCat(".TH ", absl::AsciiStrToUpper(Troff(title)), " 1 \"\" \"",
                      Troff(usage.version), "\" \"User Commands\"\n.ad l\n");
}

// Turns "Record where …" into the phrase that follows a name and a dash.
std::string AsPhrase(const std::string& text) {
  std::string phrase = text.substr(0, text.find('\n'));
  while (phrase.ends_with('.')) phrase.pop_back();
  if (phrase.size() > 1 && absl::ascii_islower(static_cast<unsigned char>(phrase[1]))) {
    phrase[0] = absl::ascii_tolower(static_cast<unsigned char>(phrase[0]));
  }
  return phrase;
}

std::string Bold(std::string_view text) { return absl::StrCat("\\fB", Troff(text), "\\fR"); }
std::string Italic(std::string_view text) { return absl::StrCat("\\fI", Troff(text), "\\fR"); }

// Returns the text as one sentence with a full stop.
std::string AsSentence(const std::string& text) {
  std::string sentence = absl::StrReplaceAll(text, {{"\n", " "}});
  if (!sentence.empty() && !sentence.ends_with('.')) sentence += '.';
  return Troff(sentence);
}

std::string OptionText(const OptionUsage& option, bool is_argument) {
  std::string text = ".TP\n";
  absl::StrAppend(&text,
                  absl::StrJoin(option.names, ", ", [&](std::string* out, const std::string& name) {
                    *out += is_argument ? Italic(name) : Bold(name);
                  }));
  if (!is_argument && !option.value.empty()) absl::StrAppend(&text, " ", Italic(option.value));
  absl::StrAppend(&text, "\n", AsSentence(option.text));
  if (!option.default_value.empty()) {
    absl::StrAppend(&text, " Default: ", Bold(option.default_value), ".");
  }
  if (!is_argument && option.repeats) absl::StrAppend(&text, " May be given several times.");
  return text + "\n";
}

std::string Options(const std::vector<OptionUsage>& options) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionUsage& option : options) text += OptionText(option, /*is_argument=*/false);
  return text;
}

std::string Synopsis(const Usage& usage, const CommandUsage& command) {
  std::string text = absl::StrCat(".SH SYNOPSIS\n", Bold(usage.program), " ", Bold(command.name),
                                  " [", Italic("OPTIONS"), "]");
  for (const OptionUsage& argument : command.arguments) {
    const std::string name = Italic(argument.names.front()) + (argument.repeats ? " ..." : "");
    absl::StrAppend(&text, " ", argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (command.runs_program) {
    absl::StrAppend(&text, " [", Bold("--"), "] [", Italic("PROGRAM"), " [", Italic("ARGUMENT"),
                    " ...]]");
  }
  return text + "\n";
}

// Returns the examples of the command's page in docs/.
std::string Examples(const CommandPage* page) {
  if (page == nullptr || page->examples.empty()) return "";
  std::string text = ".SH EXAMPLES\n";
  for (const PageExample& example : page->examples) {
    absl::StrAppend(&text, ".TP\n", Bold(example.command), "\n",
                    AsSentence(std::string(example.purpose)), "\n");
  }
  return text;
}

constexpr std::string_view kExitStatus = R"(.SH EXIT STATUS
0 after success, 1 after a failure, which a message on standard error explains, and 2 for an unknown
option or argument.
)";
constexpr std::string_view kDiffStatus =
    "With \\fB\\-\\-fail\\-if\\fR also 3, if a change fulfils the condition.\n";
constexpr std::string_view kRunStatus =
    "If the program that was run ended with another status, or by a signal, the status of that "
    "program.\n";

constexpr std::string_view kEnvironment = R"(.SH ENVIRONMENT
.TP
.BR PROFILER_PAGER ", " PAGER
The program that shows long texts on a terminal. Without both: \fBless\fR.
.TP
.B NO_COLOR
If set, percentages have no colours.
.TP
.B DEBUGINFOD_URLS
Servers of debug files, which are fetched by build-id.
.TP
.B XDG_CACHE_HOME
The directory of the cache of debug information. If it is not set: \fI~/.cache\fR.
.SH FILES
.TP
.I perf.data
The recording that commands write and read if no other one is named.
)";

std::string SeeAlso(const std::vector<std::string>& pages) {
  return absl::StrCat(".SH SEE ALSO\n",
                      absl::StrJoin(pages, ", ",
                                    [](std::string* out, const std::string& page) {
                                      absl::StrAppend(out, Bold(page), "(1)");
                                    }),
                      "\n");
}

}  // namespace

std::string Troff(std::string_view text) {
  // Terminals limited to ASCII would show nothing for "…".
  const std::string plain = absl::StrReplaceAll(View(text), {{"…", "..."}});
  std::string escaped;
  bool starts_line = true;
  for (size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    // At the start of a line these two characters introduce a request.
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    starts_line = c == '\n';
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case ',':
        escaped += c;
        // A long list without blanks may be broken after each comma.
        if (i + 1 < plain.size() && absl::ascii_islower(plain[i + 1])) escaped += "\\:";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ManualPage(const Usage& usage) {
  std::string page = Heading(usage.program, usage);
  absl::StrAppend(&page, ".SH NAME\n", Troff(usage.program), " \\- ", Troff(AsPhrase(usage.text)),
                  "\n.SH SYNOPSIS\n", Bold(usage.program), " [", Italic("OPTIONS"), "] ",
                  Italic("COMMAND"), " [", Italic("ARGUMENT"), " ...]\n.SH DESCRIPTION\n",
                  AsSentence(usage.text), "\n.SH COMMANDS\n");
  std::vector<std::string> pages;
  for (const CommandUsage& command : usage.commands) {
    const std::string name = absl::StrCat(usage.program, "-", command.name);
    absl::StrAppend(&page, ".TP\n", Bold(name), "(1)\n", AsSentence(command.text), "\n");
    pages.push_back(name);
  }
  absl::StrAppend(&page, Options(usage.options), View(kExitStatus), View(kEnvironment),
                  SeeAlso(pages));
  return page;
}

std::string ManualPage(const Usage& usage, const CommandUsage& command) {
  const std::string name = absl::StrCat(usage.program, "-", command.name);
  const CommandPage* const about = PageOf(command.name);
  std::string page = Heading(name, usage);
  absl::StrAppend(&page, ".SH NAME\n", Troff(name), " \\- ", Troff(AsPhrase(command.text)), "\n",
                  Synopsis(usage, command), ".SH DESCRIPTION\n",
                  AsSentence(about == nullptr ? command.text : std::string(about->explanation)),
                  "\n");
  for (const OptionUsage& argument : command.arguments) {
    page += OptionText(argument, /*is_argument=*/true);
  }
  absl::StrAppend(&page, Options(command.options), Examples(about), View(kExitStatus));
  const bool may_fail = std::ranges::any_of(
      command.options, [](const OptionUsage& option) { return option.IsCalled("--fail-if"); });
  if (may_fail) absl::StrAppend(&page, View(kDiffStatus));
  if (command.runs_program) absl::StrAppend(&page, View(kRunStatus));
  page += SeeAlso({usage.program});
  return page;
}

}  // namespace profiler::usage

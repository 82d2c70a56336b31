#include "src/cli/usage/help_text.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"
#include "src/cli/usage/command_pages.h"
#include "src/terminal/columns.h"

namespace profiler::usage {
namespace {

constexpr size_t kColumn = 26;        // column of the descriptions
constexpr size_t kLeastColumns = 60;  // narrower terminals wrap lines themselves
constexpr size_t kMostColumns = 100;  // longer lines are hard to read
constexpr size_t kShownExamples = 3;

// Returns the word in pieces of at most `room` columns, broken after the commas and bars of lists. A
// piece without these may be wider.
std::vector<std::string> PiecesOf(std::string_view word, size_t room) {
  std::vector<std::string> pieces(1);
  while (!word.empty()) {
    const size_t end = std::min(word.find_first_of(",|"), word.size() - 1) + 1;
    const std::string_view item = word.substr(0, end);
    const size_t width = terminal::ColumnsOf(pieces.back()) + terminal::ColumnsOf(item);
    if (!pieces.back().empty() && width > room) pieces.emplace_back();
    pieces.back() += item;
    word.remove_prefix(end);
  }
  return pieces;
}

// Appends `text` to the line `out` ends with, broken between words; further lines begin at
// `column`.
void AppendWrapped(std::string_view text, size_t column, size_t columns, std::string& out) {
  size_t used = column;
  bool is_first = true;
  for (const absl::string_view piece : absl::StrSplit(View(text), absl::ByAnyChar(" \n"))) {
    const std::string_view word(piece.data(), piece.size());
    if (word.empty()) continue;
    if (!is_first && used + 1 + terminal::ColumnsOf(word) > columns) {
      absl::StrAppend(&out, "\n", std::string(column, ' '));
      used = column;
    } else if (!is_first) {
      out += ' ';
      ++used;
    }
    const std::vector<std::string> pieces = PiecesOf(word, columns - column);
    absl::StrAppend(&out, absl::StrJoin(pieces, "\n" + std::string(column, ' ')));
    used = pieces.size() == 1 ? used + terminal::ColumnsOf(word)
                              : column + terminal::ColumnsOf(pieces.back());
    is_first = false;
  }
  out += '\n';
}

// Appends a row of two columns.
void AppendRow(const std::string& left, std::string_view text, size_t columns, std::string& out) {
  std::string row = "  " + left;
  const size_t width = terminal::ColumnsOf(row);
  if (width + 2 > kColumn) {
    absl::StrAppend(&row, "\n", std::string(kColumn, ' '));
  } else {
    row += std::string(kColumn - width, ' ');
  }
  out += row;
  AppendWrapped(text, kColumn, columns, out);
}

// Returns the value's name as users type it: "KEY,…". A list of many choices is left to the text.
std::string ValueOf(const OptionUsage& option) {
  constexpr size_t kMost = 24;
  if (option.value.empty()) return "";
  if (option.value.size() > kMost && !option.choices.empty()) return " VALUE";
  const bool has_type_as_name = option.value == "TEXT" || option.value == "INT" ||
                                option.value == "UINT" || option.value == "FLOAT";
  return " " + (has_type_as_name && option.value != "TEXT" ? "N" : option.value);
}

// Returns the option's text with its choices and its default.
std::string TextOf(const OptionUsage& option) {
  std::string text = option.text;
  if (ValueOf(option) == " VALUE") {
    absl::StrAppend(&text, " (", absl::StrJoin(option.choices, ", "), ")");
  }
  if (!option.default_value.empty() && !absl::StrContains(text, "default")) {
    absl::StrAppend(&text, " (default: ", option.default_value, ")");
  }
  return text;
}

void AppendOption(const OptionUsage& option, size_t columns, std::string& out) {
  AppendRow(absl::StrJoin(option.names, ", ") + ValueOf(option), TextOf(option), columns, out);
}

std::string UsageLine(const Usage& usage, const CommandUsage& command) {
  std::string text = absl::StrCat("Usage: ", usage.program, " ", command.name);
  if (!command.options.empty()) text += " [OPTIONS]";
  for (const OptionUsage& argument : command.arguments) {
    std::string name = absl::StrCat(argument.names.front(), argument.repeats ? "…" : "");
    absl::StrAppend(&text, " ", argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (command.runs_program) text += " [-- CMD [ARGUMENT…]]";
  return text + "\n";
}

void AppendExamples(const CommandPage& page, std::string& out) {
  if (page.examples.empty()) return;
  out += "\nExamples:\n";
  for (size_t i = 0; i < std::min(kShownExamples, page.examples.size()); ++i) {
    absl::StrAppend(&out, "  ", View(page.examples[i].command), "\n      ",
                    View(page.examples[i].purpose), "\n");
  }
}

// Options that have no effect, which perf's scripts pass: only their names.
bool IsIgnoredGroup(std::string_view title) { return title.starts_with("Accepted"); }

void AppendGroup(std::string_view title, const std::vector<const OptionUsage*>& options,
                 size_t columns, std::string& out) {
  if (options.empty()) return;
  absl::StrAppend(&out, "\n", View(title), ":\n");
  if (IsIgnoredGroup(title)) {
    std::vector<std::string> names;
    for (const OptionUsage* option : options) {
      names.push_back(absl::StrJoin(option->names, ", "));
    }
    out += "  ";
    AppendWrapped(absl::StrJoin(names, ", "), 2, columns, out);
    return;
  }
  for (const OptionUsage* option : options) AppendOption(*option, columns, out);
}

// Appends the options in the groups of the page. Options that no group has come last.
void AppendOptions(const std::vector<OptionUsage>& options, const CommandPage* page, size_t columns,
                   std::string& out) {
  std::set<const OptionUsage*> shown;
  if (page != nullptr) {
    for (const OptionGroup& group : page->groups) {
      std::vector<const OptionUsage*> of_group;
      for (const std::string_view name : group.options) {
        for (const OptionUsage& option : options) {
          if (option.IsCalled(name) && shown.insert(&option).second) of_group.push_back(&option);
        }
      }
      AppendGroup(group.title, of_group, columns, out);
    }
  }
  std::vector<const OptionUsage*> rest;
  for (const OptionUsage& option : options) {
    if (!shown.contains(&option)) rest.push_back(&option);
  }
  AppendGroup(shown.empty() ? "Options" : "Other options", rest, columns, out);
}

size_t Bounded(size_t columns) { return std::clamp(columns, kLeastColumns, kMostColumns); }

}  // namespace

std::string HelpText(const Usage& usage, size_t columns) {
  columns = Bounded(columns);
  std::string text;
  AppendWrapped(usage.text, 0, columns, text);
  absl::StrAppend(&text, "\nUsage: ", usage.program, " [OPTIONS] COMMAND …\n");
  std::set<std::string_view> shown;
  const auto append = [&](const CommandUsage& command) {
    if (shown.insert(command.name).second) AppendRow(command.name, command.text, columns, text);
  };
  for (const CommandGroup& group : CommandGroups()) {
    std::vector<const CommandUsage*> commands;
    for (const std::string_view name : group.commands) {
      for (const CommandUsage& command : usage.commands) {
        if (command.name == name) commands.push_back(&command);
      }
    }
    if (commands.empty()) continue;
    absl::StrAppend(&text, "\nCommands to ", View(group.purpose), ":\n");
    for (const CommandUsage* command : commands) append(*command);
  }
  if (shown.size() < usage.commands.size()) {
    text += shown.empty() ? "\nCommands:\n" : "\nFurther commands:\n";
    for (const CommandUsage& command : usage.commands) append(command);
  }
  AppendOptions(usage.options, nullptr, columns, text);
  absl::StrAppend(&text, "\n`", usage.program, " help COMMAND` explains a command.\n");
  return text;
}

std::string HelpText(const Usage& usage, const CommandUsage& command, size_t columns) {
  columns = Bounded(columns);
  const CommandPage* const page = PageOf(command.name);
  std::string text;
  AppendWrapped(command.text, 0, columns, text);
  text += "\n" + UsageLine(usage, command);
  if (page != nullptr) AppendExamples(*page, text);
  if (!command.commands.empty()) {
    text += "\nCommands:\n";
    for (const CommandUsage& below : command.commands) {
      AppendRow(below.name, below.text, columns, text);
    }
  }
  if (!command.arguments.empty()) {
    text += "\nArguments:\n";
    for (const OptionUsage& argument : command.arguments) {
      AppendRow(argument.names.front() + (argument.repeats ? "…" : ""), argument.text, columns,
                text);
    }
  }
  AppendOptions(command.options, page, columns, text);
  if (!command.footer.empty()) {
    text += "\n";
    for (const absl::string_view line : absl::StrSplit(command.footer, '\n')) {
      AppendWrapped({line.data(), line.size()}, 0, columns, text);
    }
  }
  return text;
}

}  // namespace profiler::usage

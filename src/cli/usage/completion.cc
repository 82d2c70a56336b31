#include "src/cli/usage/completion.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/text.h"

namespace profiler::usage {
namespace {

enum class Values {
  kNone,
  kAny,
  kChoices,
  kFiles,
  kDirectories,
  kProcesses,
  kUsers,
  kEvents,     // lists of the events of this machine
  kSortKeys,   // lists of the keys that the option's text names
  kFunctions,  // functions with samples in the recording of -i
};

bool Mentions(const std::string& value, std::string_view word) {
  return value.find(word) != std::string::npos;
}

// Returns the keys of a text that begins with "keys: pid,tid (default: …". Such texts are made from
// the table of keys.
std::vector<std::string> SortKeysOf(const OptionUsage& option) {
  constexpr absl::string_view kBegin = "keys: ";
  absl::string_view text = option.text;
  if (!absl::ConsumePrefix(&text, kBegin)) return {};
  return absl::StrSplit(text.substr(0, text.find(' ')), ',');
}

Values ValuesOf(const OptionUsage& option) {
  if (option.value.empty()) return Values::kNone;
  if (!SortKeysOf(option).empty()) return Values::kSortKeys;
  if (option.IsCalled("-e") && option.IsCalled("--event")) return Values::kEvents;
  if (option.IsCalled("--uid")) return Values::kUsers;
  if (option.IsCalled("--symbol")) return Values::kFunctions;
  if (!option.choices.empty()) return Values::kChoices;
  if (Mentions(option.value, "DIR")) return Values::kDirectories;
  if (option.IsCalled("--pid")) return Values::kProcesses;
  const bool is_file = Mentions(option.value, "FILE") || Mentions(option.value, "PATH") ||
                       option.IsCalled("--output") || option.IsCalled("--input");
  return is_file ? Values::kFiles : Values::kAny;
}

bool IsOfFiles(const OptionUsage& argument) {
  return argument.names.front() == "FILE" || argument.names.front() == "IN";
}

// An argument of files that may also be a function. Names of both do not collide in practice.
bool IsOfFunctions(const OptionUsage& argument) {
  return IsOfFiles(argument) && Mentions(argument.text, "the function");
}

// The shell command that prints the functions of the recording `$input`, one per line, without
// their parameters. Downloads nothing. Names with other characters than those of identifiers are
// left out, because shells would have to quote them.
std::string FunctionNames(const Usage& usage) {
  return absl::StrCat(
      usage.program,
      " report --stdio --no-pager --no-debuginfod -q -g none --no-children "
      "--fields symbol -i \"$input\" 2>/dev/null | sed 's/^ *\\[.\\] //; s/(.*//' | "
      "grep -x '[A-Za-z_~][A-Za-z0-9_:.~]*'");
}

bool IsOfCommands(const OptionUsage& argument) { return argument.names.front() == "COMMAND"; }

// Quotes text for a shell that has no escapes between single quotes.
std::string Quoted(std::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(View(text), {{"'", "'\\''"}}), "'");
}

// Shortens an option's description to the length that fits beside it in a list.
std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 70;
  const std::string line = text.substr(0, text.find_first_of(";\n"));
  if (line.size() <= kMost) return line;
  std::string part = line.substr(0, std::min(line.find(": "), line.find(" (")));
  if (part.size() <= kMost) return part;
  part.resize(part.rfind(' ', kMost));
  return part + " …";
}

std::string Words(const std::vector<OptionUsage>& options) {
  std::vector<std::string> names;
  for (const OptionUsage& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return absl::StrJoin(names, " ");
}

std::string CommandNames(const Usage& usage) {
  return absl::StrJoin(usage.commands, " ",
                       [](std::string* out, const CommandUsage& command) { *out += command.name; });
}

// ---- bash

// Returns the shell code that lists an option's values.
std::string BashValues(const OptionUsage& option) {
  switch (ValuesOf(option)) {
    case Values::kChoices:
      return absl::StrCat("_profiler_words ", Quoted(absl::StrJoin(option.choices, " ")));
    case Values::kFiles:
      return "_profiler_files";
    case Values::kDirectories:
      return "_profiler_directories";
    case Values::kProcesses:
      return "_profiler_processes";
    case Values::kUsers:
      return "_profiler_users";
    case Values::kEvents:
      return "_profiler_events";
    case Values::kFunctions:
      return "_profiler_functions";
    case Values::kSortKeys:
      return absl::StrCat("_profiler_list ", Quoted(absl::StrJoin(SortKeysOf(option), " ")));
    case Values::kNone:
    case Values::kAny:
      break;
  }
  return ":";
}

std::string BashCommand(const CommandUsage& command, const std::vector<OptionUsage>& everywhere) {
  std::string text = absl::StrCat("    ", command.name, ")\n      case $option in\n");
  std::vector<OptionUsage> all = command.options;
  all.insert(all.end(), everywhere.begin(), everywhere.end());
  for (const OptionUsage& option : all) {
    if (option.value.empty()) continue;
    absl::StrAppend(&text, "        ", absl::StrJoin(option.names, "|"), ") ", BashValues(option),
                    "; return ;;\n");
  }
  absl::StrAppend(&text, "      esac\n      options=", Quoted(Words(all)), "\n");
  if (command.runs_program) {
    text += "      arguments=program\n";
  } else if (std::ranges::any_of(command.arguments, IsOfFunctions)) {
    text += "      arguments=functions\n";
  } else if (std::ranges::any_of(command.arguments, IsOfFiles)) {
    text += "      arguments=files\n";
  } else if (std::ranges::any_of(command.arguments, IsOfCommands)) {
    text += "      arguments=commands\n";
  }
  return text + "      ;;\n";
}

// `option` is the word whose value is being typed: the word before, or the text before a "=", which
// bash treats as a separate word.
constexpr std::string_view kBashBegin = R"sh(# Completion of PROGRAM for bash.

_profiler_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); }
_profiler_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); }
_profiler_users() { COMPREPLY=($(compgen -u -- "$word")); }
_profiler_list() { COMPREPLY=($(compgen -P "${word%"${word##*,}"}" -W "$1" -- "${word##*,}")); }
_profiler_events() {
  _profiler_list "$(PROGRAM list --no-desc hw sw cache pmu 2>/dev/null | sed 's/^ *//; s/ .*//' | tr '\n' ' ')"
}
# bash splits words at colons. So names are compared with the whole word, and lose its part before
# the last colon.
_profiler_functions() {
  local i name input=perf.data typed=${COMP_LINE-}
  typed=${typed:0:${COMP_POINT:-0}}
  typed=${typed##*[ =]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -i || ${COMP_WORDS[i]} == --input ]] || continue
    input=${COMP_WORDS[i + 1]}
    [[ $input == = ]] && input=${COMP_WORDS[i + 2]}
  done
  while read -r name; do
    [[ $name == "$typed"* ]] && COMPREPLY+=("${name#"${typed%"${typed##*:}"}"}")
  done < <(FUNCTIONS)
}
_profiler_directories() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")); }
_profiler_processes() {
  local process pids='' names=''
  for process in /proc/[0-9]*; do
    pids+=" ${process#/proc/}"
    { read -r process < "$process/comm"; } 2>/dev/null && [[ $process != *[[:space:]]* ]] && names+=" $process"
  done
  _profiler_words "$pids $names"
}

# Which of the words begins the command that is run, if one does: the first that is no option's.
_profiler_program() {
  local i=$1 word
  for ((; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      ((i + 1 <= COMP_CWORD)) && echo $((i + 1))
      return
    fi
    [[ $word == = ]] && { ((i++)); continue; }
    [[ $word != -* ]] && { echo "$i"; return; }
    [[ " $with_value " == *" $word "* && ${COMP_WORDS[i + 1]-} != = ]] && ((i++))
  done
}

_profiler() {
  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' options='' arguments='' with_value='' at=0 i
  COMPREPLY=()
  if [[ $word == = ]]; then
    word=''
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -* ]] && continue
    command=${COMP_WORDS[i]} at=$i
    break
  done
)sh";
constexpr std::string_view kBashEnd = R"sh(  if [[ $word == -* && $option != -- ]]; then
    _profiler_words "$options"
  elif [[ $arguments == files ]]; then
    _profiler_files
  elif [[ $arguments == functions ]]; then
    _profiler_files
    _profiler_functions
  elif [[ $arguments == commands ]]; then
    _profiler_words 'COMMANDS'
  elif [[ $arguments == program ]]; then
    COMPREPLY=($(compgen -c -- "$word"))
  fi
}

complete -F _profiler PROGRAM
)sh";

std::string Bash(const Usage& usage) {
  std::string text = absl::StrReplaceAll(
      View(kBashBegin), {{"PROGRAM", usage.program}, {"FUNCTIONS", FunctionNames(usage)}});
  text += "  case $command in\n";
  for (const CommandUsage& command : usage.commands) {
    if (!command.runs_program) continue;
    std::vector<OptionUsage> with_value = command.options;
    std::erase_if(with_value, [](const OptionUsage& option) { return option.value.empty(); });
    absl::StrAppend(&text, "    ", command.name, ") with_value=", Quoted(Words(with_value)),
                    " ;;\n");
  }
  absl::StrAppend(&text,
                  "  esac\n"
                  "  if [[ $with_value ]]; then\n"
                  "    i=$(_profiler_program $((at + 1)))\n"
                  "    if [[ $i ]]; then\n"
                  "      if declare -F _command_offset >/dev/null; then\n"
                  "        _command_offset \"$i\"\n"
                  "      elif ((i == COMP_CWORD)); then\n"
                  "        COMPREPLY=($(compgen -c -- \"$word\"))\n"
                  "      else\n"
                  "        _profiler_files\n"
                  "      fi\n"
                  "      return\n"
                  "    fi\n"
                  "  fi\n"
                  "  case $command in\n"
                  "    '')\n"
                  "      options=",
                  Quoted(Words(usage.options)),
                  "\n"
                  "      [[ $word == -* ]] || { _profiler_words ",
                  Quoted(CommandNames(usage)), "; return; }\n      ;;\n");
  std::vector<OptionUsage> everywhere = usage.options;
  std::erase_if(everywhere, [](const OptionUsage& option) {
    return option.IsCalled("--help") || option.IsCalled("--version");
  });
  for (const CommandUsage& command : usage.commands) text += BashCommand(command, everywhere);
  return text + "  esac\n" +
         absl::StrReplaceAll(View(kBashEnd),
                             {{"PROGRAM", usage.program}, {"COMMANDS", CommandNames(usage)}});
}

// ---- zsh

// Escapes text for the brackets and braces of _arguments.
std::string ZshText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string ZshAction(const OptionUsage& option) {
  switch (ValuesOf(option)) {
    case Values::kChoices:
      return absl::StrCat("(", absl::StrJoin(option.choices, " "), ")");
    case Values::kFiles:
      return "_files";
    case Values::kDirectories:
      return "_files -/";
    case Values::kProcesses:
      return "_pids";
    case Values::kUsers:
      return "_users";
    case Values::kEvents:
      return " _profiler_events";  // the blank keeps _arguments from adding options
    case Values::kFunctions:
      return " _profiler_functions";
    case Values::kSortKeys:
      return absl::StrCat(" _profiler_list ", absl::StrJoin(SortKeysOf(option), " "));
    case Values::kNone:
    case Values::kAny:
      break;
  }
  return " ";
}

std::string ZshOption(const OptionUsage& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    std::string spec;
    if (option.repeats) {
      spec = "*";
    } else if (option.names.size() > 1) {
      spec = absl::StrCat("(", absl::StrJoin(option.names, " "), ")");
    }
    absl::StrAppend(&spec, name);
    if (!option.value.empty()) spec += is_long ? "=" : "+";
    absl::StrAppend(&spec, "[", ZshText(Shortened(option.text)), "]");
    if (!option.value.empty()) {
      absl::StrAppend(&spec, ":", ZshText(option.value), ":", ZshAction(option));
    }
    absl::StrAppend(&text, "        ", Quoted(spec), " \\\n");
  }
  return text;
}

std::string Zsh(const Usage& usage) {
  std::string text = absl::StrCat("#compdef ", usage.program,
                                  "\n\n_profiler_commands() {\n  local -a commands=(\n");
  for (const CommandUsage& command : usage.commands) {
    absl::StrAppend(&text, "    ",
                    Quoted(absl::StrCat(command.name, ":", ZshText(Shortened(command.text)))),
                    "\n");
  }
  text +=
      "  )\n  _describe command commands\n}\n\n"
      "_profiler_list() {\n  compset -P '*,'\n  compadd -S '' -- \"$@\"\n}\n\n";
  absl::StrAppend(&text, "_profiler_events() {\n  _profiler_list $(", usage.program,
                  " list --no-desc hw sw cache pmu 2>/dev/null | sed 's/^ *//; s/ .*//')\n}\n\n");
  absl::StrAppend(&text,
                  "_profiler_functions() {\n"
                  "  local input=${opt_args[-i]:-${opt_args[--input]:-perf.data}}\n"
                  "  compadd -- ${(f)\"$(",
                  FunctionNames(usage), ")\"}\n}\n\n");
  text +=
      "_profiler_functions_and_files() {\n  _profiler_functions\n  _files\n}\n\n"
      "_profiler() {\n"
      "  local context state line curcontext=$curcontext\n"
      "  typeset -A opt_args\n"
      "  _arguments -C \\\n";
  for (const OptionUsage& option : usage.options) text += ZshOption(option);
  text +=
      "        '1:command:_profiler_commands' \\\n"
      "        '*:: :->arguments' && return\n"
      "  [[ $state == arguments ]] || return\n"
      "  case $words[1] in\n";
  for (const CommandUsage& command : usage.commands) {
    absl::StrAppend(&text, "    ", command.name, ")\n      _arguments \\\n");
    for (const OptionUsage& option : command.options) text += ZshOption(option);
    if (command.runs_program) {
      text += "        '(-)1:program:_command_names -e' \\\n        '*:::arguments:_normal'\n";
    } else if (std::ranges::any_of(command.arguments, IsOfFunctions)) {
      text += "        '*:function or file: _profiler_functions_and_files'\n";
    } else if (std::ranges::any_of(command.arguments, IsOfFiles)) {
      text += "        '*:file:_files'\n";
    } else if (std::ranges::any_of(command.arguments, IsOfCommands)) {
      text += "        '1:command:_profiler_commands'\n";
    } else {
      text += "        '*: : '\n";
    }
    text += "      ;;\n";
  }
  return text + "  esac\n}\n\n_profiler \"$@\"\n";
}

// ---- fish

std::string FishQuoted(std::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(View(text), {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishOption(const std::string& begin, const OptionUsage& option) {
  std::string text = begin;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    absl::StrAppend(&text, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  switch (ValuesOf(option)) {
    case Values::kNone:
      break;
    case Values::kChoices:
      absl::StrAppend(&text, " -x -a ", FishQuoted(absl::StrJoin(option.choices, " ")));
      break;
    case Values::kProcesses:
      text += " -x -a '(__fish_complete_pids)'";
      break;
    case Values::kUsers:
      text += " -x -a '(__fish_complete_users)'";
      break;
    case Values::kEvents:
      text += " -x -a '(__profiler_events)'";
      break;
    case Values::kFunctions:
      text += " -x -a '(__profiler_functions)'";
      break;
    case Values::kSortKeys:
      absl::StrAppend(&text, " -x -a ",
                      FishQuoted(absl::StrCat("(__fish_append , ",
                                              absl::StrJoin(SortKeysOf(option), " "), ")")));
      break;
    case Values::kFiles:
      text += " -r -F";
      break;
    case Values::kDirectories:
      text += " -x -a '(__fish_complete_directories)'";
      break;
    case Values::kAny:
      text += " -x";
      break;
  }
  return absl::StrCat(text, " -d ", FishQuoted(Shortened(option.text)), "\n");
}

std::string Fish(const Usage& usage) {
  const std::string complete = absl::StrCat("complete -c ", usage.program);
  std::string text =
      absl::StrCat("# Completion of ", usage.program, " for fish.\n", complete, " -f\n",
                   "function __profiler_events\n  __fish_append , (", usage.program,
                   " list --no-desc hw sw cache pmu 2>/dev/null | sed 's/^ *//; s/ .*//')\nend\n",
                   "function __profiler_functions\n  set -l words (commandline -opc)\n"
                   "  set -l input perf.data\n  set -l at (contains -i -- -i $words)\n"
                   "  or set at (contains -i -- --input $words)\n"
                   "  and set input $words[(math $at + 1)]\n  ",
                   FunctionNames(usage), "\nend\n");
  for (const OptionUsage& option : usage.options) text += FishOption(complete, option);
  for (const CommandUsage& command : usage.commands) {
    absl::StrAppend(&text, complete, " -n __fish_use_subcommand -a ", command.name, " -d ",
                    FishQuoted(Shortened(command.text)), "\n");
  }
  for (const CommandUsage& command : usage.commands) {
    const std::string begin =
        absl::StrCat(complete, " -n ", FishQuoted("__fish_seen_subcommand_from " + command.name));
    if (command.runs_program) {
      absl::StrAppend(&text, begin, " -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n");
    } else if (std::ranges::any_of(command.arguments, IsOfFunctions)) {
      absl::StrAppend(&text, begin, " -F -a '(__profiler_functions)'\n");
    } else if (std::ranges::any_of(command.arguments, IsOfFiles)) {
      absl::StrAppend(&text, begin, " -F\n");
    } else if (std::ranges::any_of(command.arguments, IsOfCommands)) {
      absl::StrAppend(&text, begin, " -x -a ", FishQuoted(CommandNames(usage)), "\n");
    }
    for (const OptionUsage& option : command.options) text += FishOption(begin, option);
  }
  return text;
}

}  // namespace

std::optional<Shell> ShellOf(std::string_view name) {
  if (name == "bash") return Shell::kBash;
  if (name == "zsh") return Shell::kZsh;
  if (name == "fish") return Shell::kFish;
  return std::nullopt;
}

std::string Completion(Shell shell, const Usage& usage) {
  switch (shell) {
    case Shell::kBash:
      return Bash(usage);
    case Shell::kZsh:
      return Zsh(usage);
    case Shell::kFish:
      break;
  }
  return Fish(usage);
}

}  // namespace profiler::usage

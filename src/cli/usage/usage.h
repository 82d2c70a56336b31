// The commands and options that `--help` lists, as a value. Manual pages and the shells'
// completions are generated from this value, so that each text is written only once.
//
//   Command ──▶ Usage ──▶ HelpText     for `--help`
//                    ├──▶ ManualPage   troff, for man(1)
//                    └──▶ Completion   for bash, zsh and fish

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profiler::usage {

class Command;

struct OptionUsage {
  std::vector<std::string> names;    // "-F", "--freq"; for an argument only its name
  std::string value;                 // "FILE", "fp|dwarf[,BYTES]"; empty: takes no value
  std::vector<std::string> choices;  // the fixed words among its values
  std::string default_value;
  bool repeats = false;
  bool is_required = false;
  std::string text;  // the description

  bool IsCalled(std::string_view name) const;
};

struct CommandUsage {
  std::string name;
  std::string text;
  std::vector<OptionUsage> arguments;  // in the order of the command line
  std::vector<OptionUsage> options;
  bool runs_program = false;  // True if another program's command line follows the options.
  std::string footer;         // the text below the options in `--help`
  std::vector<CommandUsage> commands;  // commands below this one
};

struct Usage {
  std::string program;
  std::string text;
  std::string version;  // first line of the output of --version
  std::vector<OptionUsage> options;
  std::vector<CommandUsage> commands;
};

// Returns the commands and options that were added to `program`.
Usage UsageOf(const Command& program);

// Returns the fixed words of alternatives such as "fp|dwarf[,BYTES]|auto" or "{a,b}", without
// placeholders such as FILE.
std::vector<std::string> ChoicesOf(std::string_view value);

}  // namespace profiler::usage

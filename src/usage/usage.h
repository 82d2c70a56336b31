// What the program can be told, as a value: the commands and their options, as `--help` lists them.
// Manual pages and the shells' completions are written from it, so that nothing is said twice.
//
//   Command ──▶ Usage ──▶ ManualPage   troff, for man(1)
//                    └──▶ Completion   for bash, zsh and fish

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profiler::usage {

class Command;

struct OptionUsage {
  std::vector<std::string> names;    // "-F", "--freq"; of an argument its name alone
  std::string value;                 // "FILE", "fp|dwarf[,BYTES]"; empty: it has none
  std::vector<std::string> choices;  // the words among its values
  std::string default_value;
  bool repeats = false;
  bool is_required = false;
  std::string text;  // what it does

  bool IsCalled(std::string_view name) const;
};

struct CommandUsage {
  std::string name;
  std::string text;
  std::vector<OptionUsage> arguments;  // in their order
  std::vector<OptionUsage> options;
  bool runs_program = false;  // what stands behind its options is a command of its own
};

struct Usage {
  std::string program;
  std::string text;
  std::string version;  // the first line of what --version prints
  std::vector<OptionUsage> options;
  std::vector<CommandUsage> commands;
};

// As they were added to `program`.
Usage UsageOf(const Command& program);

// The words among alternatives that are written as in "fp|dwarf[,BYTES]|auto" or "{a,b}": those
// that are no names of something to fill in.
std::vector<std::string> ChoicesOf(std::string_view value);

}  // namespace profiler::usage

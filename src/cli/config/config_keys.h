// Turns the settings of a configuration file into options of a command. The keys have perf's names
// where perf has such a key (tools/perf/Documentation/perf-config.txt, Linux 6.12).
//
// A setting counts as if its option stood in front of all options that the user gives. It is left
// out if the user gives an option that it would contradict.

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/config/config_text.h"

namespace profiler::config {

// The command line that the user typed.
struct Typed {
  std::string_view command;
  std::set<std::string> options;  // names of the given options: the long one if there are two
  bool makes_page = false;        // True if the output is a page (-o x.html), which has no layout
};

// An option that settings stand for.
struct Default {
  std::string key;   // key of the setting
  size_t line = 0;   // line of the setting in the file
  std::string word;  // "--sort=dso,symbol"
};

struct Defaults {
  std::vector<Default> options;
  std::string pager;                  // value for $PROFILER_PAGER; empty: leave it
  std::vector<std::string> warnings;  // "LINE: …" about keys that do not exist
  std::vector<std::string> errors;    // "LINE: …" about values that cannot be used
};

// True if the command reads the configuration file. Commands that print for programs (script,
// folded, export) and those that run unattended (agent, push) do not.
bool ReadsConfig(std::string_view command);

// Returns the options for the command. Looks at the values of keys that belong to it, and at the
// names of all keys.
Defaults DefaultsFor(const Typed& typed, const std::vector<Setting>& settings);

// Returns the keys that have an effect, ascending.
std::vector<std::string> KnownKeys();

}  // namespace profiler::config

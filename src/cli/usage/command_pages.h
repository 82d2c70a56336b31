// Facts from the pages of docs/ about each command, for `--help` and the manual pages: examples,
// explanation, and groups of options. pages.awk makes the tables when the program is built, so each
// fact is written only once.

#pragma once

#include <string_view>
#include <vector>

namespace profiler::usage {

struct PageExample {
  std::string_view command;  // the whole command line
  std::string_view purpose;
};

struct OptionGroup {
  std::string_view title;
  std::vector<std::string_view> options;  // all names: "-s", "--sort"
};

struct CommandPage {
  std::string_view command;
  std::string_view explanation;  // one paragraph
  std::vector<PageExample> examples;
  std::vector<OptionGroup> groups;
};

// Commands that serve the same purpose, from README.md.
struct CommandGroup {
  std::string_view purpose;  // "record", "read", …
  std::vector<std::string_view> commands;
};

const std::vector<CommandPage>& CommandPages();
const std::vector<CommandGroup>& CommandGroups();

// Returns the page of a command; null if it has none.
const CommandPage* PageOf(std::string_view command);

}  // namespace profiler::usage

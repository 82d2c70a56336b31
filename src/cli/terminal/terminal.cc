#include "src/cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace profiler::cli {
namespace {

TerminalChoice& Chosen() {
  static TerminalChoice choice;
  return choice;
}

bool IsInPath(std::string_view program, std::string_view path) {
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    const std::string file = std::string(folder).append("/").append(program);
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return true;
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
  }
  return false;
}

// Returns the pager that the user names; empty if there is none.
std::string NamedPager(const Environment& environment) {
  const std::string own = environment("PROFILER_PAGER");
  return own.empty() ? environment("PAGER") : own;
}

std::string PagerOf(const Environment& environment) {
  const std::string pager = NamedPager(environment);
  if (!pager.empty()) return pager == "cat" ? "" : pager;
  // On an unknown terminal, less would ask whether to continue.
  const std::string terminal = environment("TERM");
  if (terminal.empty() || terminal == "dumb") return "";
  return IsInPath("less", environment("PATH")) ? "less" : "";
}

size_t ColumnsOf(const TerminalFacts& facts, const Environment& environment) {
  const std::string text = environment("COLUMNS");
  size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = error == std::errc() && *end == 0;
  return is_number && columns > 0 ? columns : facts.columns;
}

TerminalFacts FactsOf(int descriptor) {
  TerminalFacts facts = {.is_terminal = isatty(descriptor) != 0};
  winsize size = {};
  if (facts.is_terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
    facts.columns = size.ws_col;
  }
  return facts;
}

std::string EnvironmentOfProcess(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TerminalStyle StyleOfDescriptor(int descriptor) {
  return StyleOf(FactsOf(descriptor), Chosen(), EnvironmentOfProcess);
}

}  // namespace

TerminalStyle StyleOf(const TerminalFacts& facts, const TerminalChoice& choice,
                      const Environment& environment) {
  TerminalStyle style;
  const bool shows_colours =
      facts.is_terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.colour =
      choice.colour == Colour::kAlways || (choice.colour == Colour::kAuto && shows_colours);
  if (!facts.is_terminal) return style;
  style.columns = ColumnsOf(facts, environment);
  if (choice.pager) style.pager = PagerOf(environment);
  return style;
}

bool MayTakeTerminal(const TerminalChoice& choice, const Environment& environment) {
  return choice.pager && NamedPager(environment) != "cat" && environment("PROFILER_UI") != "stdio";
}

void ChooseTerminal(const TerminalChoice& choice) { Chosen() = choice; }

size_t HelpColumns() {
  constexpr size_t kPlain = 80;
  const size_t columns = StyleOfStandardOutput().columns;
  return columns == 0 ? kPlain : columns;
}

TerminalStyle StyleOfStandardOutput() { return StyleOfDescriptor(STDOUT_FILENO); }
bool MayTakeTerminal() { return MayTakeTerminal(Chosen(), EnvironmentOfProcess); }
TerminalStyle StyleOfStandardError() { return StyleOfDescriptor(STDERR_FILENO); }

}  // namespace profiler::cli

#include "src/views/diff/command_difference.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"

namespace profiler::diff {
namespace {

std::string_view ProgramOf(const Run& run) { return BaseName(run.command.front()); }

bool HaveSameArguments(const Run& a, const Run& b) {
  return std::equal(a.command.begin() + 1, a.command.end(), b.command.begin() + 1, b.command.end());
}

}  // namespace

std::string CommandDifference::Text() const {
  if (part == CommandPart::kNone) return {};
  const std::string a = Printable(one->name), b = Printable(other->name);
  const std::string program = Printable(ProgramOf(*one));
  if (part == CommandPart::kArguments) {
    return absl::StrCat("the arguments of ", program, " differ between ", a, " and ", b);
  }
  return absl::StrCat("the programs differ: ", a, " ran ", program, ", ", b, " ran ",
                      Printable(ProgramOf(*other)));
}

CommandDifference DifferenceOfCommands(std::span<const Run> before, std::span<const Run> after) {
  std::vector<const Run*> runs;
  for (const std::span<const Run> group : {before, after}) {
    for (const Run& run : group) {
      if (!run.command.empty()) runs.push_back(&run);
    }
  }
  for (const Run* run : runs) {
    if (ProgramOf(*run) == ProgramOf(*runs[0])) continue;
    return {.part = CommandPart::kPrograms, .one = runs[0], .other = run};
  }
  for (const Run* run : runs) {
    if (HaveSameArguments(*run, *runs[0])) continue;
    return {.part = CommandPart::kArguments, .one = runs[0], .other = run};
  }
  return {};
}

}  // namespace profiler::diff

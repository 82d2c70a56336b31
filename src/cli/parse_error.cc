#include "src/cli/parse_error.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/nearest_word.h"
#include "src/base/text.h"
#include "src/cli/perf_commands.h"

namespace profiler::cli {
namespace {

bool IsCommand(const usage::Command& app, std::string_view word) {
  const std::vector<std::string> names = app.CommandNames();
  return std::find(names.begin(), names.end(), word) != names.end();
}

}  // namespace

std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason) {
  if (first.empty() || first.starts_with('-') || IsCommand(app, first)) {
    const bool is_command = IsCommand(app, first);
    return absl::StrCat(is_command ? absl::StrCat(View(first), ": ") : "", View(reason),
                        " (see profiler ", is_command ? absl::StrCat(View(first), " ") : "",
                        "--help)");
  }
  if (const std::string_view instead = InsteadOfPerfCommand(first); !instead.empty()) {
    return absl::StrCat("there is no command '", View(first), "'; ", View(instead));
  }
  return absl::StrCat("there is no command '", View(first), "'",
                      DidYouMean(first, app.CommandNames()), " (see profiler --help)");
}

}  // namespace profiler::cli

#include "src/cli/parse_error.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/edit_distance.h"

namespace profiler::cli {
namespace {

bool IsCommand(const usage::Command& app, std::string_view word) {
  const std::vector<std::string> names = app.CommandNames();
  return std::find(names.begin(), names.end(), word) != names.end();
}

}  // namespace

std::string NearestCommand(const usage::Command& app, std::string_view word) {
  std::string nearest;
  size_t least = std::max<size_t>(2, word.size() / 2) + 1;
  for (const std::string& name : app.CommandNames()) {
    const bool begins = !word.empty() && std::string_view(name).starts_with(word);
    const size_t distance = begins ? 0 : EditDistance(word, name, Swapped::kOneEdit);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string ExplainParseError(const usage::Command& app, std::string_view first,
                              std::string_view reason) {
  const absl::string_view word(first.data(), first.size());
  if (first.empty() || first.starts_with('-') || IsCommand(app, first)) {
    const absl::string_view why(reason.data(), reason.size());
    const std::string command = IsCommand(app, first) ? absl::StrCat(word, " ") : "";
    return absl::StrCat(command.empty() ? "" : absl::StrCat(word, ": "), why, "; profiler ",
                        command, "--help lists what there is");
  }
  const std::string nearest = NearestCommand(app, first);
  return absl::StrCat("'", word, "' is no command",
                      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?"),
                      nearest.empty() ? "; " : " ", nearest.empty() ? "profiler" : "(profiler",
                      " --help lists them", nearest.empty() ? "" : " all)");
}

}  // namespace profiler::cli

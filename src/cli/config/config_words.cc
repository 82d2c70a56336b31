#include "src/cli/config/config_words.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/cli/config/config_file.h"

namespace profiler::config {

std::vector<std::string> AddedWords::With(std::vector<std::string> words,
                                          std::optional<size_t> only) const {
  std::vector<std::string> added;
  for (size_t i = 0; i < options.size(); ++i) {
    if (only.value_or(i) == i) added.push_back(options[i].word);
  }
  const auto name = std::find(words.begin(), words.end(), command);
  words.insert(name == words.end() ? name : std::next(name), added.begin(), added.end());
  return words;
}

std::string AddedWords::Note() const {
  std::string text = path + " adds";
  for (const Default& option : options) absl::StrAppend(&text, " ", option.word);
  return text + " (without the file: --no-config)";
}

absl::Status AddedWords::Refused(size_t index, const std::string& why) const {
  const Default& option = options[index];
  return absl::InvalidArgumentError(
      absl::StrCat(path, ":", option.line, ": ", option.key, ": ", why));
}

absl::StatusOr<AddedWords> AddConfigWords(const usage::Command& command,
                                          const std::vector<usage::Option>& general,
                                          const std::vector<std::string>& words) {
  AddedWords added{.path = {}, .command = command.Name(), .options = {}, .warnings = {}};
  if (!ReadsConfig(added.command)) return added;
  Typed typed{.command = added.command, .options = {}};
  for (const usage::Option& option : general) typed.options.insert(option.Name());
  for (const usage::Option& option : command.GivenOptions()) typed.options.insert(option.Name());
  if (typed.options.contains("--json")) return added;
  const bool runs_program = command.RunsProgram();  // whose words mean nothing here
  typed.makes_page =
      !runs_program && std::any_of(words.begin(), words.end(),
                                   [](const std::string& word) { return word.ends_with(".html"); });
  PROFILER_ASSIGN_OR_RETURN(const ConfigFile file, ReadConfigFile());
  added.path = file.path;
  Defaults defaults = DefaultsFor(typed, file.settings);
  if (!defaults.errors.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file.path, ":", defaults.errors.front()));
  }
  for (const std::string& warning : defaults.warnings) {
    added.warnings.push_back(absl::StrCat(file.path, ":", warning));
  }
  added.options = std::move(defaults.options);
  constexpr int kKeep = 0;
  if (!defaults.pager.empty()) setenv("PROFILER_PAGER", defaults.pager.c_str(), kKeep);
  return added;
}

}  // namespace profiler::config

#include "src/cli/usage/long_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/nearest_word.h"
#include "src/base/text.h"

namespace profiler::usage {
namespace {

// A long name of an option, without dashes.
struct LongName {
  std::string name;
  CLI::Option* option = nullptr;
};

void AddOptions(CLI::App& app, std::vector<CLI::Option*>* options) {
  for (CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) options->push_back(option);
  }
  // Groups of options are commands without a name.
  for (CLI::App* const group : app.get_subcommands({})) {
    if (group->get_name().empty()) AddOptions(*group, options);
  }
}

// The options that may follow a word of the command line.
class KnownOptions {
 public:
  explicit KnownOptions(CLI::App& app) {
    AddOptions(app, &options_);
    if (app.get_parent() != nullptr && app.get_fallthrough()) {
      AddOptions(*app.get_parent(), &options_);
    }
  }

  // Returns null for an unknown option.
  CLI::Option* Short(char letter) const {
    for (CLI::Option* const option : options_) {
      const std::vector<std::string>& names = option->get_snames();
      if (std::find(names.begin(), names.end(), std::string(1, letter)) != names.end()) {
        return option;
      }
    }
    return nullptr;
  }

  // Returns the option of that name; else the only option whose name begins like this. Its option
  // is null if there is none. Of an option's names that begin like this, returns the first.
  absl::StatusOr<LongName> Long(std::string_view beginning) const {
    std::vector<LongName> found;
    for (CLI::Option* const option : options_) {
      bool is_first = true;
      for (const std::string& with_braces : option->get_lnames()) {
        std::string name = WithoutBraces(with_braces);
        if (name == beginning) return LongName{std::move(name), option};
        if (!is_first || !std::string_view(name).starts_with(beginning)) continue;
        found.push_back({std::move(name), option});
        is_first = false;
      }
    }
    if (found.empty()) return LongName();
    if (found.size() == 1) return found.front();
    return absl::InvalidArgumentError(
        absl::StrCat("--", View(beginning), " is ambiguous: it begins ",
                     absl::StrJoin(found, " and ", [](std::string* out, const LongName& candidate) {
                       absl::StrAppend(out, "--", candidate.name);
                     })));
  }

  // Returns the error for an option that nobody added.
  absl::Status Unknown(std::string_view word) const {
    std::vector<std::string> names;
    for (const CLI::Option* const option : options_) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + WithoutBraces(name));
      }
    }
    const std::string_view name = word.substr(0, word.find('='));
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown option ", View(name), name.starts_with("--") ? DidYouMean(name, names) : ""));
  }

 private:
  std::vector<CLI::Option*> options_;
};

// True if `word` can only be an option: not "-", "--", or a negative number.
bool LooksLikeOption(std::string_view word) {
  if (word.size() < 2 || word[0] != '-' || word == "--") return false;
  return (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

// Returns how many words follow an option as its values in any case.
size_t ValuesOf(const CLI::Option& option) {
  return static_cast<size_t>(std::max(0, option.get_items_expected_min()));
}

// Returns how many of the words after "-abc" are values of its last option. Sets `is_known` to
// false if a letter is no option.
size_t ValuesAfterLetters(const KnownOptions& known, std::string_view word, bool* is_known) {
  for (size_t i = 1; i < word.size(); ++i) {
    const CLI::Option* const option = known.Short(word[i]);
    *is_known = option != nullptr;
    if (option == nullptr) return 0;
    const size_t values = ValuesOf(*option);
    // The letters after an option with a value are the value.
    if (values > 0 || option->get_items_expected_max() > 0) {
      return i + 1 == word.size() ? values : 0;
    }
  }
  return 0;
}

CLI::App* CommandNamed(CLI::App& program, const std::string& name) {
  for (CLI::App* const command : program.get_subcommands({})) {
    if (!name.empty() && command->get_name() == name) return command;
  }
  return nullptr;
}

}  // namespace

std::string WithoutBraces(std::string_view name) {
  return std::string(name.substr(0, name.find('{')));
}

absl::StatusOr<std::vector<std::string>> WithWholeNames(CLI::App& program,
                                                        std::vector<std::string> words) {
  CLI::App* app = &program;
  KnownOptions known(program);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string& word = words[i];
    const bool runs_program = app->get_prefix_command();
    bool is_known = true;
    if (word.starts_with("--") && word.size() > 2) {
      const size_t end = std::min(word.find('='), word.size());
      const absl::StatusOr<LongName> found = known.Long(std::string_view(word).substr(2, end - 2));
      if (!found.ok()) return found.status();
      is_known = found->option != nullptr;
      if (is_known) {
        if (end == word.size()) i += ValuesOf(*found->option);
        word.replace(0, end, "--" + found->name);
      }
    } else if (word.starts_with('-') && word.size() > 1) {
      i += ValuesAfterLetters(known, word, &is_known);
    } else if (CLI::App* const command = app == &program ? CommandNamed(program, word) : nullptr) {
      app = command;
      known = KnownOptions(*command);
      continue;
    } else {
      is_known = false;
    }
    if (!is_known && LooksLikeOption(word)) return known.Unknown(word);
    // The command line of a program begins at the first word that is no option.
    if (!is_known && runs_program) break;
  }
  return words;
}

}  // namespace profiler::usage

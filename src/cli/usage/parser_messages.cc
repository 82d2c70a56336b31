#include "src/cli/usage/parser_messages.h"

#include <optional>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "src/base/nearest_word.h"
#include "src/base/text.h"

namespace profiler::usage {
namespace {

// Splits "A excludes B" at " excludes ". Returns nothing if the text does not contain it.
std::optional<std::pair<std::string, std::string>> SplitAt(const std::string& text,
                                                           std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + separator.size()));
}

// "Exactly 1 option from [--exe,--pid] is required" names the options between brackets. CLI11 puts
// an empty name first, for --help.
std::string AlternativesOf(const std::string& text) {
  const size_t begin = text.find('[') + 1;
  std::string names = text.substr(begin, text.rfind(']') - begin);
  names.erase(0, names.find_first_not_of(','));
  return absl::StrReplaceAll(names, {{",", " and "}});
}

}  // namespace

std::string MessageOf(const CLI::ParseError& error) {
  const std::string text = error.what();
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "The following argument was not expected: ")) {
    return absl::StrCat("unexpected argument '", rest, "'");
  }
  if (absl::ConsumePrefix(&rest, "The following arguments were not expected: ")) {
    return absl::StrCat("unexpected arguments: ", rest);
  }
  if (text == "A subcommand is required") return "a command is missing";
  if (text.starts_with("Exactly 1 option from [")) {
    return absl::StrCat("give exactly one of ", AlternativesOf(text));
  }
  if (absl::ConsumeSuffix(&rest, " is required")) return absl::StrCat(rest, " is missing");
  if (const auto pair = SplitAt(text, " excludes ")) {
    return absl::StrCat(pair->first, " and ", pair->second, " cannot be used together");
  }
  if (absl::ConsumePrefix(&rest, "Could not convert: ")) {
    if (const auto pair = SplitAt(std::string(rest), " = ")) {
      return absl::StrCat(pair->first, ": '", pair->second, "' is not a number");
    }
  }
  if (const auto pair = SplitAt(text, ": 1 required ")) {
    return absl::StrCat(pair->first, " needs a value");
  }
  if (const auto pair = SplitAt(text, ": File does not exist: ")) {
    return absl::StrCat(pair->first, ": file '", pair->second, "' does not exist");
  }
  return text;
}

CLI::Validator Explained(const CLI::Validator& check, const std::string& expected,
                         const std::vector<std::string>& known) {
  CLI::Validator explained = check;
  explained.operation([check, expected, known](std::string& value) {
    std::string copy = value;
    if (check(copy).empty()) return std::string();
    return absl::StrCat("'", value, "' is not ", expected, DidYouMean(value, known));
  });
  return explained;
}

}  // namespace profiler::usage

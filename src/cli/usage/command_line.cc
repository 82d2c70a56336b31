#include "src/cli/usage/command_line.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/cli/usage/help_text.h"
#include "src/cli/usage/long_names.h"
#include "src/cli/usage/parser_messages.h"

namespace profiler::usage {
namespace {

// Adds a check; `--help` shows its description.
void AddCheck(CLI::Option* option, CLI::Validator check, InHelp in_help) {
  if (in_help == InHelp::kNo) check.description("");
  option->check(std::move(check));
}

// Returns a check for a range, whose message says the range.
template <typename T>
CLI::Validator RangeOf(T least, T most) {
  const std::string expected = most == std::numeric_limits<T>::max()
                                   ? absl::StrCat("a number of at least ", least)
                                   : absl::StrCat("a number from ", least, " to ", most);
  return Explained(CLI::Range(least, most), expected);
}

// Returns the name for messages of "-o,--output".
std::string LongestName(const std::string& names) {
  std::string longest;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    if (name.size() > longest.size()) longest = std::string(name);
  }
  return longest;
}

}  // namespace

// Makes the last value count if the option is given several times, as in perf.
Option Command::LastCounts(CLI::Option* option) {
  return Option(option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

Option Option::ValueName(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

Option Option::ShowDefault(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::Excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::ValueMayBeMissing() const {
  option_->expected(0, 1);
  return *this;
}

Option Option::OneValueEach() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::InRange(int least, int most, InHelp in_help) const {
  AddCheck(option_, RangeOf(least, most), in_help);
  return *this;
}

Option Option::InRange(uint32_t least, uint32_t most, InHelp in_help) const {
  AddCheck(option_, RangeOf(least, most), in_help);
  return *this;
}

Option Option::InRange(uint64_t least, uint64_t most, InHelp in_help) const {
  AddCheck(option_, RangeOf(least, most), in_help);
  return *this;
}

Option Option::InRange(double least, double most, InHelp in_help) const {
  AddCheck(option_, RangeOf(least, most), in_help);
  return *this;
}

Option Option::Positive() const {
  option_->check(Explained(CLI::PositiveNumber, "a positive number"));
  return *this;
}

Option Option::OneOf(const std::vector<std::string>& words, InHelp in_help) const {
  const std::string expected =
      words.size() == 1 ? words.front() : "one of " + absl::StrJoin(words, ", ");
  AddCheck(option_, Explained(CLI::IsMember(words), expected, words), in_help);
  return *this;
}

Option Option::ExistingFile() const {
  option_->check(CLI::ExistingFile);
  return *this;
}

Option Option::AsSize() const {
  option_->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  return *this;
}

size_t Option::Count() const { return option_ == nullptr ? 0 : option_->count(); }

std::string Option::Name() const { return option_->get_name(); }

Command::Command(const std::string& name, const std::string& text)
    : program_(std::make_unique<CLI::App>(text, name)), app_(program_.get()) {}

Command::Command(CLI::App* app) : app_(app) {}

Command::~Command() = default;

Command& Command::AddCommand(const std::string& name, const std::string& text) {
  CLI::App* const app = app_->add_subcommand(name, text);
  return *commands_.emplace_back(absl::WrapUnique(new Command(app)));
}

Command& Command::AddAlternatives(const std::string& heading) {
  CLI::App* const app = app_->add_option_group(heading);
  app->require_option(1);
  return *alternatives_.emplace_back(absl::WrapUnique(new Command(app)));
}

Option Command::AddOption(const std::string& names, std::string& value, const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, int& value, const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, uint32_t& value, const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, uint64_t& value, const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, double& value, const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, std::optional<std::string>& value,
                          const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, std::optional<int>& value,
                          const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, std::optional<uint32_t>& value,
                          const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, std::optional<double>& value,
                          const std::string& text) {
  return LastCounts(app_->add_option(names, value, text));
}

Option Command::AddOption(const std::string& names, std::vector<std::string>& values,
                          const std::string& text) {
  return Option(app_->add_option(names, values, text));
}

Option Command::AddOption(const std::string& names, ReadValue read, const std::string& text) {
  const auto read_or_throw = [name = LongestName(names),
                              read = std::move(read)](const std::string& value) {
    const absl::Status status = read(value);
    if (!status.ok()) throw CLI::ValidationError(name, std::string(status.message()));
  };
  return LastCounts(app_->add_option_function<std::string>(names, read_or_throw, text));
}

Option Command::AddOption(const std::string& names, const std::string& text) {
  return LastCounts(app_->add_option(names)->description(text));
}

Option Command::AddFlag(const std::string& names, bool& value, const std::string& text) {
  return Option(app_->add_flag(names, value, text));
}

Option Command::AddFlag(const std::string& names, int& count, const std::string& text) {
  return Option(app_->add_flag(names, count, text));
}

Option Command::AddFlag(const std::string& names, std::function<void()> when_given,
                        const std::string& text) {
  return Option(app_->add_flag_callback(names, std::move(when_given), text));
}

Option Command::AddFlag(const std::string& names, const std::string& text) {
  return Option(app_->add_flag(names)->description(text));
}

Option Command::AddRefused(const std::string& names, const std::string& value,
                           const std::string& instead) {
  const std::string text = "not here: " + instead;
  const auto refuse = [name = LongestName(names), instead] {
    throw CLI::ValidationError(name, instead);
  };
  if (value.empty()) return Option(app_->add_flag_callback(names, refuse, text));
  CLI::Option* const option = app_->add_option_function<std::string>(
      names, [refuse](const std::string&) { refuse(); }, text);
  return LastCounts(option->type_name(value));
}

void Command::SetFooter(const std::string& text) { app_->footer(text); }

void Command::SetVersion(const std::string& text) { app_->set_version_flag("-V,--version", text); }

void Command::RequireCommand() { app_->require_subcommand(1); }

void Command::SetRunsProgram() { app_->prefix_command(); }

void Command::AcceptProgramOptions() { app_->fallthrough(); }

std::string Command::Name() const { return app_->get_name(); }

bool Command::RunsProgram() const { return app_->get_prefix_command(); }

std::vector<std::string> Command::CommandNames() const {
  std::vector<std::string> names;
  for (const auto& command : commands_) names.push_back(command->Name());
  return names;
}

std::string Command::Help(size_t columns) const { return HelpOf(*app_, columns); }

Parsed Command::Parse(std::vector<std::string> arguments, size_t columns) {
  auto whole = WithWholeNames(*app_, std::move(arguments));
  if (!whole.ok()) return {Parsed::Kind::kError, std::string(whole.status().message())};
  arguments = *std::move(whole);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last word first
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    CLI::App* given = app_;
    while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
    return {Parsed::Kind::kAnswer, HelpOf(*given, columns)};
  } catch (const CLI::CallForVersion& version) {
    return {Parsed::Kind::kAnswer, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return {Parsed::Kind::kError, MessageOf(error)};
  }
  return {};
}

bool Command::WasGiven() const { return app_->parsed(); }

size_t Command::Count(const std::string& name) const {
  const CLI::Option* const option = app_->get_option_no_throw(name);
  return option == nullptr ? 0 : option->count();
}

std::vector<Option> Command::GivenOptions() const {
  std::vector<Option> options;
  for (CLI::Option* const option : app_->parse_order()) options.push_back(Option(option));
  return options;
}

std::vector<std::string> Command::Remaining() const { return app_->remaining(); }

std::string_view ParserVersion() { return CLI11_VERSION; }

}  // namespace profiler::usage

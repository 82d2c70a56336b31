#include "src/cli/usage/usage.h"

#include <algorithm>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/usage/help_text.h"
#include "src/cli/usage/long_names.h"

namespace profiler::usage {
namespace {

// Returns the descriptions of the option's checks, which CLI11 prints after the value's name.
std::vector<std::string> ChecksOf(CLI::Option& option) {
  std::vector<std::string> checks;
  try {
    for (int i = 0;; ++i) checks.push_back(option.get_validator(i)->get_description());
  } catch (const CLI::OptionNotFound&) {  // there is no further option
  }
  std::erase(checks, "");
  return checks;
}

OptionUsage Describe(CLI::Option& option) {
  OptionUsage usage;
  if (option.get_positional()) {
    usage.names.push_back(option.get_name(/*positional=*/true));
  } else {
    for (const std::string& name : option.get_snames()) usage.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) {
      usage.names.push_back("--" + WithoutBraces(name));
    }
  }
  if (option.get_items_expected_max() > 0) {
    std::string value = option.get_type_name(), set;
    for (const std::string& check : ChecksOf(option)) {
      if (value.ends_with(":" + check)) value.resize(value.size() - check.size() - 1);
      if (check.starts_with('{')) set = check;
    }
    usage.choices = ChoicesOf(set.empty() ? value : set);
    const bool has_no_name = value.empty() || value == "TEXT";
    if (has_no_name) value = usage.choices.empty() ? "TEXT" : absl::StrJoin(usage.choices, "|");
    usage.value = value;
    usage.default_value = option.get_default_str();
  }
  usage.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  usage.is_required = option.get_required();
  usage.text = option.get_description();
  return usage;
}

std::vector<CLI::App*> PartsOf(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

// Adds the options of which exactly one must be given; their texts say so.
void DescribeAlternatives(CLI::App& group, std::vector<OptionUsage>* options) {
  std::vector<OptionUsage> alternatives;
  std::vector<std::string> names;
  for (CLI::Option* const option : group.get_options()) {
    if (option == group.get_help_ptr()) continue;
    alternatives.push_back(Describe(*option));
    names.push_back(alternatives.back().names.back());
  }
  for (OptionUsage& option : alternatives) {
    option.text += absl::StrCat(" (exactly one of ", absl::StrJoin(names, " and "), ")");
    options->push_back(std::move(option));
  }
}

void DescribeOptions(CLI::App& app, std::vector<OptionUsage>* arguments,
                     std::vector<OptionUsage>* options) {
  for (CLI::Option* const option : app.get_options()) {
    auto* const list = option->get_positional() ? arguments : options;
    if (list != nullptr) list->push_back(Describe(*option));
  }
  for (CLI::App* const part : PartsOf(app)) {
    if (part->get_name().empty()) DescribeAlternatives(*part, options);
  }
}

CommandUsage DescribeCommand(CLI::App& app) {
  CommandUsage described;
  described.name = app.get_name();
  described.text = app.get_description();
  described.runs_program = app.get_prefix_command();
  described.footer = app.get_footer();
  DescribeOptions(app, &described.arguments, &described.options);
  for (CLI::App* const part : PartsOf(app)) {
    if (!part->get_name().empty()) described.commands.push_back(DescribeCommand(*part));
  }
  return described;
}

Usage DescribeProgram(CLI::App& app) {
  Usage usage;
  usage.program = app.get_name();
  usage.text = app.get_description();
  usage.version = app.version();
  usage.version.resize(std::min(usage.version.find('\n'), usage.version.size()));
  DescribeOptions(app, nullptr, &usage.options);
  usage.commands = DescribeCommand(app).commands;
  return usage;
}

bool IsWord(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text,
                             [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                                      c == '-' || c == '_' || c == '.';
                             }) &&
         text.front() >= 'a' && text.front() <= 'z';
}

}  // namespace

bool OptionUsage::IsCalled(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> ChoicesOf(std::string_view value) {
  std::vector<std::string> choices;
  const bool is_set = value.starts_with('{') && value.ends_with('}');
  if (is_set) value = value.substr(1, value.size() - 2);
  for (const absl::string_view part : absl::StrSplit(View(value), is_set ? ',' : '|')) {
    // A suffix in brackets is optional: dwarf[,BYTES].
    std::string_view word(part.data(), part.size());
    word = word.substr(0, word.find('['));
    if (IsWord(word)) choices.emplace_back(word);
  }
  // A single word is the value's name, not a choice.
  if (!is_set && value.find('|') == std::string_view::npos) choices.clear();
  return choices;
}

Usage UsageOf(const Command& program) { return DescribeProgram(*program.app_); }

std::string HelpOf(CLI::App& app, size_t columns) {
  CLI::App* program = &app;
  std::string name = app.get_name();
  while (CLI::App* const parent = program->get_parent()) {
    program = parent;
    if (program->get_parent() != nullptr) name = absl::StrCat(program->get_name(), " ", name);
  }
  const Usage usage = DescribeProgram(*program);
  if (program == &app) return HelpText(usage, columns);
  CommandUsage command = DescribeCommand(app);
  command.name = std::move(name);
  return HelpText(usage, command, columns);
}

}  // namespace profiler::usage

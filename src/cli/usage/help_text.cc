#include "src/cli/usage/help_text.h"

#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/base/text.h"

namespace profiler::usage {
namespace {

// Column of the descriptions.
constexpr size_t kColumn = 30;

std::string Row(std::string_view left, std::string_view description) {
  std::string row = absl::StrCat("  ", View(left));
  const std::string next_line = "\n" + std::string(kColumn, ' ');
  if (row.size() < kColumn) {
    row.resize(kColumn, ' ');
  } else if (!description.empty()) {
    row += next_line;
  }
  return absl::StrCat(row, absl::StrReplaceAll(View(description), {{"\n", next_line}}), "\n");
}

bool IsRepeated(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

// Returns the option's value, as in " SIZE=1G ...". Does not list the options that the option
// excludes, because their names already show that they are opposites.
std::string ValueOf(const CLI::Option& option) {
  std::string text;
  if (option.get_type_size() == 0) return text;
  if (!option.get_type_name().empty()) absl::StrAppend(&text, " ", option.get_type_name());
  if (!option.get_default_str().empty()) absl::StrAppend(&text, "=", option.get_default_str());
  if (IsRepeated(option)) {
    text += " ...";
  } else if (option.get_expected_min() > 1) {
    absl::StrAppend(&text, " x ", option.get_expected());
  }
  if (option.get_required()) text += " REQUIRED";
  return text;
}

std::string RowOf(const CLI::Option& option, bool is_positional) {
  return Row(absl::StrCat(option.get_name(is_positional, !is_positional), ValueOf(option)),
             option.get_description());
}

std::string UsageOf(const CLI::Option& positional) {
  std::string text = positional.get_name(true, false);
  if (IsRepeated(positional)) {
    text += "...";
  } else if (positional.get_expected_max() > 1) {
    absl::StrAppend(&text, "(", positional.get_expected(), "x)");
  }
  return positional.get_required() ? text : absl::StrCat("[", text, "]");
}

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_disabled() && !command->get_name().empty();
  });
}

std::string Usage(const CLI::App& app, std::string_view name) {
  std::string text = absl::StrCat("Usage:", name.empty() ? "" : " ", View(name));
  const auto options =
      app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
  if (!options.empty()) text += " [OPTIONS]";
  for (const CLI::Option* positional : Positionals(app)) {
    absl::StrAppend(&text, " ", UsageOf(*positional));
  }
  if (!CommandsOf(app).empty()) {
    text += app.get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
  }
  return text + "\n";
}

std::string Options(const CLI::App& app, bool with_help) {
  std::string text;
  std::string rows;
  for (const CLI::Option* option : Positionals(app)) rows += RowOf(*option, true);
  if (!rows.empty()) absl::StrAppend(&text, "\nPositionals:\n", rows);
  rows.clear();
  for (const CLI::Option* option : app.get_options()) {
    const bool is_help = option == app.get_help_ptr();
    if (option->nonpositional() && (with_help || !is_help)) rows += RowOf(*option, false);
  }
  if (!rows.empty()) absl::StrAppend(&text, "\nOptions:\n", rows);
  return text;
}

// Lists options of which exactly one must be given.
std::string Alternatives(const CLI::App& group) {
  std::string text = absl::StrCat("[Option Group: ", group.get_group(), "]\n",
                                  " \n[Exactly 1 of the following options is required]\n",
                                  Options(group, /*with_help=*/false));
  text = absl::StrReplaceAll(text, {{"\n\n", "\n"}});
  text.pop_back();
  return absl::StrReplaceAll(text, {{"\n", "\n  "}}) + "\n";
}

std::string Commands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* group : app.get_subcommands({})) {
    if (group->get_name().empty()) text += Alternatives(*group);
  }
  std::string rows;
  for (const CLI::App* command : CommandsOf(app)) {
    rows += Row(command->get_name(), command->get_description());
  }
  if (!rows.empty()) absl::StrAppend(&text, "\nSubcommands:\n", rows);
  return text;
}

}  // namespace

std::string HelpText(const CLI::App& app, const std::string& name) {
  std::string text = app.get_description();
  if (!text.empty()) text += "\n";
  absl::StrAppend(&text, Usage(app, name), Options(app, /*with_help=*/true), Commands(app), "\n");
  if (!app.get_footer().empty()) absl::StrAppend(&text, app.get_footer(), "\n");
  return text;
}

}  // namespace profiler::usage

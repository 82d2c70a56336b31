// profiler script

#include <memory>
#include <string>

#include "src/cli/command.h"
#include "src/cli/load_profile.h"
#include "src/cli/output.h"
#include "src/cli/report_options.h"
#include "src/report/script.h"

namespace profiler::cli {
namespace {

struct ScriptArguments {
  std::string input = "perf.data";
  FilterText filter;
  uint32_t max_stack = 127;
  bool no_inline = false;
  bool no_demangle = false;
};

int WriteScript(const ScriptArguments& arguments) {
  report::ScriptOptions options;
  auto filter = ParseFilter(arguments.filter);
  if (!filter.ok()) {
    PrintError(filter.status());
    return kExitUsage;
  }
  options.filter = *filter;
  options.max_stack = arguments.max_stack;
  options.inlines = !arguments.no_inline;

  LoadOptions load;
  load.keep_samples = true;
  load.inlines = options.inlines;
  load.demangle = !arguments.no_demangle;
  const auto loaded = LoadProfileOrPrint(arguments.input, load);
  if (!loaded) return kExitFailure;
  Output output("-");
  report::ScriptFormatter(loaded->profile, options).Write([&](std::string_view text) {
    output.Write(text);
  });
  return Finish(*loaded, output);
}

}  // namespace

void AddScriptCommand(CLI::App& app, Commands& commands) {
  CLI::App* command =
      app.add_subcommand("script", "Print every sample, in the layout of perf script");
  auto arguments = std::make_shared<ScriptArguments>();
  ScriptArguments& a = *arguments;
  command->add_option("-i,--input", a.input, "recording; - for standard input")
      ->capture_default_str();
  AddFilterOptions(*command, a.filter);
  command->add_option("--max-stack", a.max_stack, "frames shown of a call chain")
      ->capture_default_str();
  command->add_flag("--no-inline", a.no_inline, "do not show inlined functions");
  command->add_flag("--no-demangle", a.no_demangle, "show symbols as the linker knows them");
  command->add_flag("-f,--force")
      ->description("accepted: a recording of another user is read when it can be");
  commands[command] = [arguments] { return WriteScript(*arguments); };
}

}  // namespace profiler::cli

// profiler import

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/files/export_recording.h"
#include "src/cli/terminal/output.h"
#include "src/importers/import.h"
#include "src/importers/write_profile.h"

namespace profiler::cli {
namespace {

struct ImportArguments {
  std::string input;
  std::string output = "perf.data";
  std::string format;
  bool quiet = false;
};

absl::StatusOr<std::optional<importers::Format>> FormatOf(const ImportArguments& arguments) {
  if (arguments.format.empty()) return std::nullopt;
  const auto format = importers::FormatNamed(arguments.format);
  if (format) return format;
  return absl::InvalidArgumentError(absl::StrCat(
      "--format ", arguments.format, ": unknown format; use one of ", importers::FormatNames()));
}

void PrintSummary(const importers::ImportedProfile& imported,
                  const importers::WrittenProfile& written, const ImportArguments& arguments) {
  PrintNote(absl::StrFormat("profiler import: %s, %d samples, %.3f MB in %s",
                            View(importers::TitleOf(imported.format)), written.samples,
                            static_cast<double>(written.bytes) / 1e6,
                            arguments.output == "-" ? "standard output" : arguments.output));
}

int RunImport(const ImportArguments& arguments) {
  const auto format = FormatOf(arguments);
  const absl::Status usage =
      format.ok() ? CheckRecordingOutput(arguments.output, arguments.input, "profile")
                  : format.status();
  if (!usage.ok()) {
    PrintError(usage);
    return kExitUsage;
  }
  const std::string name = arguments.input == "-" ? "standard input" : arguments.input;
  auto imported = importers::ImportFile(arguments.input, *format);
  if (!imported.ok()) {
    PrintError(imported.status());
    return kExitFailure;
  }
  perf_data::Features features;
  importers::SetImported(name, imported->format, &features);
  importers::WriteProfileOptions options;
  options.most_recorded = importers::MostRecordedOf(imported->input);
  const auto written = WriteRecordingOf(imported->profile, arguments.output, std::move(features),
                                        std::move(options));
  if (!written.ok()) {
    PrintError(written.status());
    return kExitFailure;
  }
  const auto warn = [&](const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) PrintWarning(absl::StrCat(name, ": ", warning));
  };
  warn(imported->profile.losses.warnings);
  warn(written->warnings);
  if (!arguments.quiet) PrintSummary(*imported, *written, arguments);
  return kExitOk;
}

}  // namespace

void AddImportCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("import", "Convert a profile of another program to a recording");
  command.SetFooter(
      "Views also read such profiles directly (report -i cpu.pb.gz); import writes a recording of "
      "it.");
  auto arguments = std::make_shared<ImportArguments>();
  ImportArguments& a = *arguments;
  command.AddOption("FILE", a.input, "profile to read; - for standard input").Required();
  command
      .AddOption("-o,--output", a.output,
                 "file to write; an existing file is renamed to FILE.old; - for standard output")
      .ValueName("FILE|-")
      .ShowDefault();
  command
      .AddOption("--format", a.format,
                 absl::StrCat("format of FILE (default: detected from its contents): ",
                              importers::FormatNames()))
      .ValueName("NAME");
  command.AddFlag("-q,--quiet", a.quiet, "print warnings and errors only");
  commands[&command] = [arguments] { return RunImport(*arguments); };
}

}  // namespace profiler::cli

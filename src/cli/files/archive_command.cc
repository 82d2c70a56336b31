// profiler archive

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "src/cli/command.h"
#include "src/cli/recording/naming_monitor.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/progress.h"
#include "src/cli/views/naming_arguments.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/rewrite/rewrite.h"
#include "src/profile/naming/collect_names.h"

namespace profiler::cli {
namespace {

struct ArchiveArguments {
  std::string input = "perf.data";
  std::string output;
  std::string embed = "lines";
  naming::FilePlaces places;
  bool quiet = false;
};

int Archive(const ArchiveArguments& arguments) {
  const std::string& output = arguments.output.empty() ? arguments.input : arguments.output;
  if (arguments.input == "-") {
    PrintError("-i -: archive reads its input twice, which a pipe does not allow; give a file");
    return kExitUsage;
  }
  if (const absl::Status terminal = CheckStreamOutput(output); !terminal.ok()) {
    PrintError(terminal);
    return kExitUsage;
  }
  auto recording = OpenRecordingOrPrint(arguments.input);
  if (recording == nullptr) return kExitFailure;
  naming::NamingOptions naming;
  naming.places = arguments.places;
  naming.warn = PrintWarning;
  naming.files_name = symbolize::FilesName::kFirst;
  naming::CollectedNames collected;
  {
    NamingMonitor monitor(!arguments.quiet);
    collected = naming::CollectNames(*recording, naming::EmbeddingOf(arguments.embed), naming,
                                     monitor.callback());
  }
  recording = nullptr;

  perf_data::RewriteOptions options;
  options.sections = naming::SectionsOf(collected);
  Progress progress(!arguments.quiet);
  options.on_progress = [&](uint64_t done, uint64_t all) {
    progress.Show([&] { return ReadingText(arguments.input, done, all); });
  };
  const auto summary = perf_data::Rewrite(arguments.input, output, options);
  progress.Clear();
  if (!summary.ok()) {
    PrintError(summary.status());
    return kExitFailure;
  }
  for (const std::string& warning : summary->warnings) PrintWarning(warning);
  if (!summary->reading.ok()) PrintError(summary->reading);
  if (!arguments.quiet) {
    PrintNote(absl::StrFormat(
        "profiler archive: %s; %.3f MB in %s", naming::Describe(collected, options.sections),
        static_cast<double>(summary->bytes) / 1e6, output == "-" ? "standard output" : output));
  }
  return summary->reading.ok() ? kExitOk : kExitFailure;
}

}  // namespace

void AddArchiveCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand(
      "archive",
      "Add names to a recording, for views on other machines, and sums of its samples, with "
      "which views open at once");
  command.SetFooter(
      "Everything else stays the same. Names that the recording already has are kept if their "
      "files are gone or have changed since.");
  auto arguments = std::make_shared<ArchiveArguments>();
  ArchiveArguments& a = *arguments;
  command.AddOption("-i,--input", a.input, "recording of profiler or perf").ShowDefault();
  command
      .AddOption("-o,--output", a.output,
                 "file to write (default: replace the input); an existing file is renamed to "
                 "FILE.old; - for standard output, as a stream")
      .ValueName("FILE|-");
  const usage::Option embed =
      command
          .AddOption("--embed", a.embed,
                     "names: only names; lines: also inlined calls and source lines; code: also "
                     "the code of sampled functions, for annotate")
          .ValueName("code|lines|names")
          .OneOf({"code", "lines", "names"})
          .ShowDefault();
  command
      .AddFlag(
          "--no-lines", [arguments] { arguments->embed = "names"; }, "same as --embed names")
      .Excludes(embed);
  AddFilePlaceOptions(command, a.places);
  command.AddFlag("-q,--quiet", a.quiet, "print warnings and errors only");
  commands[&command] = [arguments] { return Archive(*arguments); };
}

}  // namespace profiler::cli

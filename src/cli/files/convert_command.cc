// profiler convert

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/cli/command.h"
#include "src/cli/option_values.h"
#include "src/cli/recording/compression_option.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/progress.h"
#include "src/format/perf_data/rewrite/rewrite.h"

namespace profiler::cli {
namespace {

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool pipe = false;
  CompressionOption compression;
  bool decompress = false;
  std::string time;
  std::string pids;
  std::string tids;
  bool quiet = false;
};

absl::Status ReadThreads(const std::string& text, std::vector<uint32_t>* ids) {
  if (text.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<int> numbers, ParseIdList(text));
  ids->assign(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

absl::StatusOr<perf_data::RewriteOptions> ReadOptions(const ConvertArguments& arguments,
                                                      std::vector<std::string>* inputs) {
  perf_data::RewriteOptions options;
  using Compression = perf_data::RewriteOptions::Compression;
  PROFILER_ASSIGN_OR_RETURN(options.level, arguments.compression.Level(*inputs));
  if (arguments.compression.given()) options.compression = Compression::kZstd;
  if (arguments.decompress) {
    if (arguments.compression.given()) {
      return absl::InvalidArgumentError("-z and --decompress cannot be used together");
    }
    options.compression = Compression::kNone;
  }
  if (inputs->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("convert: give one recording instead of ", inputs->size()));
  }
  options.as_stream = arguments.pipe;
  if (!arguments.time.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options.time, ParseTimeRange(arguments.time));
  }
  PROFILER_RETURN_IF_ERROR(ReadThreads(arguments.pids, &options.pids));
  PROFILER_RETURN_IF_ERROR(ReadThreads(arguments.tids, &options.tids));
  PROFILER_RETURN_IF_ERROR(CheckStreamOutput(arguments.output));
  return options;
}

void PrintSummary(const perf_data::RewriteSummary& summary, const std::string& output, bool cut) {
  std::string samples;
  if (cut) {
    samples = absl::StrCat(summary.samples, " of ", summary.samples + summary.dropped_samples,
                           " samples, ");
  } else if (summary.counted) {
    samples = absl::StrCat(summary.samples, " samples, ");
  }
  PrintNote(absl::StrFormat("profiler convert: %s%.3f MB in %s", samples,
                            static_cast<double>(summary.bytes) / 1e6,
                            output == "-" ? "standard output" : output));
}

int Convert(const ConvertArguments& arguments) {
  std::vector<std::string> inputs = arguments.inputs;
  auto options = ReadOptions(arguments, &inputs);
  if (!options.ok()) {
    PrintError(options.status());
    return kExitUsage;
  }
  Progress progress(!arguments.quiet);
  options->on_progress = [&](uint64_t done, uint64_t all) {
    progress.Show([&] { return ReadingText(inputs.front(), done, all); });
  };
  const auto summary = perf_data::Rewrite(inputs.front(), arguments.output, *options);
  progress.Clear();
  if (!summary.ok()) {
    PrintError(summary.status());
    return kExitFailure;
  }
  for (const std::string& warning : summary->warnings) PrintWarning(warning);
  if (!summary->reading.ok()) PrintError(summary->reading);
  if (!arguments.quiet) PrintSummary(*summary, arguments.output, options->cuts());
  return summary->reading.ok() ? kExitOk : kExitFailure;
}

}  // namespace

void AddConvertCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand(
      "convert", "Rewrite a recording: as a file or stream, compressed or not, whole or in part");
  command.SetFooter(
      "Everything else stays the same, including parts that this program does not understand.");
  auto arguments = std::make_shared<ConvertArguments>();
  ConvertArguments& a = *arguments;
  command.AddOption("IN", a.inputs, "recording (a file or a directory); - for standard input");
  command
      .AddOption("-o,--output", a.output,
                 "file to write; an existing file is renamed to FILE.old; - for standard output")
      .ValueName("FILE|-")
      .Required();
  command.AddFlag("--pipe", a.pipe, "write the format of a stream, as for standard output");
  a.compression.AddTo(command, "compress the records with zstd (level 1 to 22, default 1)");
  command.AddFlag("--decompress", a.decompress,
                  "write uncompressed records (default: as in the input)");
  command
      .AddOption("--time", a.time,
                 "only samples from A to B, in seconds as in perf script --time, or in percent "
                 "(10%-20%); either end may be missing")
      .ValueName("A,B");
  command.AddOption("--pid", a.pids, "only samples of these processes").ValueName("PID,…");
  command.AddOption("--tid", a.tids, "only samples of these threads").ValueName("TID,…");
  command.AddFlag("-q,--quiet", a.quiet, "print warnings and errors only");
  commands[&command] = [arguments] { return Convert(*arguments); };
}

}  // namespace profiler::cli

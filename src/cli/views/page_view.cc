#include "src/cli/views/page_view.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/analysis/event_choice.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/written_file.h"
#include "src/cli/version.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/profile/naming/naming.h"
#include "src/views/annotate/choice.h"
#include "src/views/flamegraph/xml_text.h"
#include "src/views/page/code.h"

namespace profiler::cli {
namespace {

// Keeps all data that a recording stores in its sums.
void AskForPage(ViewOptions& load) {
  load.keep_thread = true;
  load.keep_names = true;
  load.dimensions[static_cast<size_t>(profile::Dimension::kSlice)] = true;
}

bool CarriesCode(const perf_data::Recording& recording) {
  return !perf_data::OwnSection(recording.features(), perf_data::kFeatureCode).empty();
}

page::Code CodeOf(const LoadedView& loaded, profile::EventId event, const PageRequest& request) {
  const bool carries = CarriesCode(*loaded.recording);
  if (!carries && !request.source && !request.code_of_files) return {};
  naming::AddRecordedCode(loaded.recording->features(), *loaded.names);
  return page::FindCode(loaded.profile, event, *loaded.names, {.source = request.source});
}

// Returns the full name of the function that the page opens.
absl::StatusOr<std::string> FunctionOf(const profile::Profile& profile, profile::EventId event,
                                       const PageRequest& request) {
  if (request.function.empty()) return std::string();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<annotate::ChosenFunction> found,
                            annotate::ChooseFunctions(profile, event, request.function));
  return exports::CleanUtf8(profile.text(profile[found[0].symbol].name));
}

std::string NoteOf(const PageRequest& request, size_t bytes, uint64_t samples,
                   const page::Code& code) {
  std::string note = absl::StrFormat("%s: %.1f MB, %u samples", request.output,
                                     static_cast<double>(bytes) / 1e6, samples);
  if (code.functions != 0) {
    absl::StrAppend(&note, ", instructions of ", code.functions,
                    code.functions == 1 ? " function" : " functions");
  }
  if (request.source) {
    absl::StrAppend(&note, ", with the text of ", code.source_lines, " source lines");
  }
  if (ErrorsAreShownLive()) absl::StrAppend(&note, "; ", HowToOpen(request.output));
  return note;
}

// Returns a note about the files whose text the page contains. The page itself lists all files.
std::string SourceNote(const std::vector<std::string>& files) {
  constexpr size_t kMostListed = 20;
  const size_t listed = std::min(files.size(), kMostListed);
  std::string note = absl::StrCat("source text is from ",
                                  absl::StrJoin(files.begin(), files.begin() + listed, ", "));
  if (files.size() > listed) {
    absl::StrAppend(&note, " and ", files.size() - listed, " more files, which the page lists");
  }
  return note;
}

std::string NameOf(const std::string& path) {
  return path == "-" ? "standard input" : std::string(BaseName(path));
}

absl::StatusOr<ViewOptions> OptionsOf(const ViewArguments& view, const PageRequest& request,
                                      const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    PROFILER_RETURN_IF_ERROR(CheckViewOutput(request.output, input));
  }
  PROFILER_ASSIGN_OR_RETURN(ViewOptions load, LoadOptionsOf(view));
  AskForPage(load);
  // Compilers number clones arbitrarily, so they are not comparable between builds.
  if (inputs.size() > 1) load.plan.names.merge_clones = true;
  return load;
}

uint64_t SamplesOf(const profile::Profile& profile) {
  uint64_t samples = 0;
  for (const profile::Row& row : profile.rows) samples += row.count;
  return samples;
}

// Returns the moment for which a flight recorder wrote the recording; nothing for other recordings.
std::optional<page::Moment> MomentOf(const LoadedView& view) {
  if (view.recording == nullptr) return std::nullopt;
  const auto recorder = perf_data::ReadRecorder(view.recording->features());
  if (!recorder || !recorder->moment) return std::nullopt;
  return page::Moment{recorder->moment->time, recorder->moment->reason};
}

// The recordings of a page and their names on it.
struct Sides {
  std::vector<std::unique_ptr<const LoadedView>> loaded;
  std::vector<page::Side> sides;

  const profile::Profile& last() const { return loaded.back()->profile; }
  uint64_t samples() const {
    uint64_t samples = 0;
    for (const page::Side& side : sides) samples += SamplesOf(*side.profile);
    return samples;
  }
};

// Loads the recordings; returns nothing after printing an error.
std::optional<Sides> LoadSides(const std::vector<std::string>& inputs, const ViewOptions& load) {
  Sides sides;
  std::vector<std::string> empty_sides;
  sides.loaded.reserve(inputs.size());
  for (const std::string& input : inputs) {
    auto one = LoadProfileOrPrint(input, load);
    if (!one) return std::nullopt;
    if (one->nothing_left) {
      empty_sides.push_back(absl::StrCat(input, ": ", *one->nothing_left));
    }
    sides.sides.push_back(
        {.profile = &one->profile, .name = NameOf(input), .moment = MomentOf(*one)});
    sides.loaded.push_back(std::move(one));
  }
  if (empty_sides.size() == inputs.size()) {
    for (const std::string& reason : empty_sides) PrintError(reason);
    return std::nullopt;
  }
  return sides;
}

// Closes the output and prints errors of all recordings. Returns the exit code.
int FinishSides(const Sides& sides, Output& output) {
  bool is_whole = true;
  for (size_t i = 0; i + 1 < sides.loaded.size(); ++i) {
    const LoadedView& one = *sides.loaded[i];
    PrintRefusedFiles(one.profile);
    if (one.reading.ok()) continue;
    PrintError(one.reading);
    is_whole = false;
  }
  const int finished = Finish(*sides.loaded.back(), output);
  return is_whole ? finished : kExitFailure;
}

struct MadePage {
  Sides sides;
  std::string text;
  page::Code code;
};

// Makes the page, or returns the exit code after printing the error.
std::variant<MadePage, int> MakePage(const ViewArguments& view,
                                     const std::vector<std::string>& inputs,
                                     const PageRequest& request) {
  const auto load = OptionsOf(view, request, inputs);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  auto sides = LoadSides(inputs, *load);
  if (!sides) return kExitFailure;
  const auto event = analysis::ChooseEvent(sides->last(), request.event);
  if (!event.ok()) {
    PrintError(event.status());
    return kExitUsage;
  }
  page::PageOptions options{.title = request.title,
                            .program = kVersion,
                            .view = request.view,
                            .reverse = request.reverse,
                            .inverted = request.inverted};
  page::Code code;
  if (*event) {
    const auto function = FunctionOf(sides->last(), **event, request);
    if (!function.ok()) {
      PrintError(function.status());
      return kExitFailure;
    }
    options.function = *function;
    code = CodeOf(*sides->loaded.back(), **event, request);
    options.code = code.json;
    if (!code.source_files.empty()) {
      options.notes.push_back(absl::StrCat("with text of these source files: ",
                                           absl::StrJoin(code.source_files, ", ")));
    }
  }
  if (!request.event.empty()) options.event = *event;
  std::string text = page::Page(sides->sides, options);
  return MadePage{*std::move(sides), std::move(text), std::move(code)};
}

int WriteSides(const ViewArguments& view, const std::vector<std::string>& inputs,
               const PageRequest& request) {
  auto made = MakePage(view, inputs, request);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const MadePage& page = std::get<MadePage>(made);
  Output output(request.output);
  output.Write(page.text);
  const int finished = FinishSides(page.sides, output);
  for (const std::string& refused : page.code.refused_sources) PrintWarning(refused);
  if (finished == kExitOk) {
    if (!page.code.source_files.empty()) PrintNote(SourceNote(page.code.source_files));
    PrintNote(NoteOf(request, page.text.size(), page.sides.samples(), page.code));
  }
  return finished;
}

}  // namespace

bool IsPage(std::string_view output) {
  return std::any_of(kPageEndings.begin(), kPageEndings.end(),
                     [&](std::string_view ending) { return output.ends_with(ending); });
}

void AddSourceOption(usage::Command& command, bool& source) {
  command.AddFlag("--source", source,
                  "with -o FILE.html: add the instructions and source text of the heaviest "
                  "functions, if their files exist here");
}

absl::Status CheckSource(bool source, std::string_view output) {
  if (!source || IsPage(output)) return absl::OkStatus();
  return absl::InvalidArgumentError("--source needs a page; add -o FILE.html");
}

int WritePage(const ViewArguments& view, const PageRequest& request) {
  return WriteSides(view, {view.input}, request);
}

std::variant<std::string, int> PageText(const ViewArguments& view, const PageRequest& request) {
  auto made = MakePage(view, {view.input}, request);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  MadePage& page = std::get<MadePage>(made);
  Output nothing("-");
  if (const int finished = FinishSides(page.sides, nothing); finished != kExitOk) return finished;
  return std::move(page.text);
}

int WritePageOfTwo(const ViewArguments& view, const std::string& before, const std::string& after,
                   const PageRequest& request) {
  return WriteSides(view, {before, after}, request);
}

}  // namespace profiler::cli

#include "src/fleet/agent/window_namer.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/agent/program_builds.h"
#include "src/fleet/segments/window_of_profile.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/machine/image_ids/mapped_files.h"
#include "src/machine/procfs/proc_file.h"
#include "src/profile/name_profile.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/profile_builder.h"
#include "symbolize/process_life.h"

namespace profiler::agent {
namespace {

// Returns the names and addresses in /proc/modules. Omits the use counts, because they change all
// the time.
//
//   ext4 1036288 1 - Live 0xffffffffc0a00000
std::string Modules() {
  std::string modules;
  (void)procfs::ReadLines("/proc/modules", [&](std::string_view line) {
    absl::StrAppend(&modules, View(line.substr(0, line.find(' '))),
                    View(line.substr(line.rfind(' ') + 1)), "\n");
    return true;
  });
  return modules;
}

// Sets the options for naming a window soon after recording, on the same machine.
naming::NamingOptions OfThisMachine(naming::NamingOptions naming) {
  naming.is_this_machine = true;
  return naming;
}

}  // namespace

WindowNamer::WindowNamer(naming::NamingOptions naming, std::shared_ptr<ProcessTable> processes)
    : naming_(OfThisMachine(std::move(naming))),
      processes_(std::move(processes)),
      names_([this] { return naming::FactsOfFiles(naming_, {}); }, naming_),
      modules_(Modules()) {}

bool WindowNamer::ModulesChanged() {
  std::string modules = Modules();
  return std::exchange(modules_, modules) != modules;
}

absl::StatusOr<fleet::Window> WindowNamer::Name(const FinishedRecording& recording,
                                                const MachineFacts& machine) {
  if (ModulesChanged()) names_.Renew();
  auto window = NameNow(recording);
  // Frees the names of this window now, not when the next one begins.
  names_.BeginWindow();
  processes_->ForgetEnded();
  PROFILER_RETURN_IF_ERROR(window.status());
  window->host = machine.host;
  window->labels = machine.labels;
  window->version = machine.version;
  window->begin = recording.begin;
  window->length = static_cast<uint64_t>(recording.length.count());
  window->frequency = static_cast<double>(recording.frequency);
  window->cpus = recording.cpus;
  return window;
}

absl::StatusOr<fleet::Window> WindowNamer::NameNow(const FinishedRecording& recording) {
  PROFILER_ASSIGN_OR_RETURN(const auto file,
                            perf_data::Recording::OpenFile(recording.file.get(), "a window"));
  const perf_data::Features& features = file->features();
  profile::ProfileBuilder builder(names_,
                                  naming::BuilderOptionsFor(file->events(), features, naming_));
  ProgramBuilds builds(features);
  image_ids::MappedFiles mapped;
  PROFILER_RETURN_IF_ERROR(
      naming::ReadInto(*file, builder, [&](const perf_data::TimedRecord& timed) {
        builds.Add(timed.record, file->events()[timed.event].layout);
        mapped.Add(timed.record, file->events()[timed.event].layout);
      }));
  profile::Profile profile = profile::Named(std::move(builder).Unnamed(), names_);
  if (auto chains = perf_data::ReadChainQuality(features)) profile.chains = *std::move(chains);
  const auto describe = [&](uint32_t pid, std::string_view program) -> fleet::ProcessFacts {
    WorkloadNames names = processes_->NamesOf(pid);
    if (names.service.empty()) names.service = std::string(program);
    return {.service = std::move(names.service),
            .container = std::move(names.container),
            .pod = std::move(names.pod),
            .build_id = builds.BuildIdOf(pid, program)};
  };
  const fleet::UnixTime end = recording.begin + recording.length.count();
  return fleet::WindowOf(profile, describe, [&](const profile::Image& image) {
    return mapped.HtlhashOf(profile.text(image.long_name), symbolize::PidOf(image.pid), end);
  });
}

}  // namespace profiler::agent

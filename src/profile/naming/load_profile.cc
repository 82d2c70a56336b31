#include "src/profile/naming/load_profile.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"
#include "src/importers/open_recording.h"
#include "src/profile/naming/fetch_files.h"
#include "src/profile/naming/recorded_machine.h"
#include "src/profile/naming/watched_names.h"
#include "src/profile/profile_order.h"
#include "src/profile/samples.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::naming {

namespace {

// Returns the recording's clock and its distance to real time. If the recording only identifies its
// clock, the distance is assumed to be this machine's present one. perf's default clock cannot be
// read, so its distance stays unknown.
profile::RecordedClock ClockOf(const std::vector<perf_data::EventDescription>& events,
                               const perf_data::Features& features) {
  profile::RecordedClock clock;
  if (events.empty() || !events.front().attr.has(perf_event::kAttrUseClockid)) return clock;
  const int32_t id = events.front().attr.clockid;
  const auto& data = features.clock_data;
  if (data && data->clockid == static_cast<uint32_t>(id)) {
    clock.began = static_cast<int64_t>(data->wall_clock_ns);
    clock.to_real_time = static_cast<int64_t>(data->wall_clock_ns - data->clockid_time_ns);
  } else if (const int64_t now = ReadClock(id); now != 0) {
    clock.to_real_time = ReadClock(CLOCK_REALTIME) - now;
  }
  return clock;
}

// Returns the time of the last write to a recording in a file; nothing for a pipe.
std::optional<int64_t> LastWritten(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  return Nanoseconds(file.st_mtim);
}

}  // namespace

profile::BuilderOptions BuilderOptionsFor(const std::vector<perf_data::EventDescription>& events,
                                          const perf_data::Features& features,
                                          const NamingOptions& naming) {
  profile::BuilderOptions options;
  options.files = SymbolizerOptionsOf(naming, features);
  options.clock = ClockOf(events, features);
  const std::string& machine = features.arch;
  if (const auto known = symbolize::ArchitectureOfMachine(machine)) options.architecture = *known;
  // Recordings of earlier versions do not mark their events. In these, only the section of chain
  // quality shows that chains are exact.
  options.exact_user_chains = perf_data::ReadChainQuality(features).has_value() ||
                              std::any_of(events.begin(), events.end(), [](const auto& event) {
                                return perf_data::HasExactUserCallers(event.attr);
                              });
  return options;
}

profile::TimeSlices SlicesOf(const perf_data::Features& features) {
  const auto& times = features.sample_time;
  return times ? profile::TimeSlices::Of(times->first, times->last, profile::kStoredSlices)
               : profile::TimeSlices::Of(0, 0, 1);
}

void AddNewEvents(const std::vector<perf_data::EventDescription>& events, size_t& known,
                  profile::ProfileBuilder& builder) {
  for (; known < events.size(); ++known) {
    builder.AddEvent(events[known].name, events[known].attr, events[known].ids);
  }
}

profile::UnnamedProfile WithLateFeatures(profile::UnnamedProfile read,
                                         const symbolize::Symbolizer& before,
                                         const perf_data::Features& features,
                                         symbolize::NameStore& names) {
  std::map<std::string, std::span<const std::byte>, std::less<>> build_ids;
  for (const auto& entry : features.build_ids) {
    build_ids.try_emplace(NameInBuildIds(entry), entry.build_id);
  }
  std::vector<symbolize::ImageSpec> specs(1);
  for (size_t i = 1; i < read.profile.images.size(); ++i) {
    profile::Image& image = read.profile.images[i];
    symbolize::ImageSpec& spec = specs.emplace_back(before.image(read.in_symbolizer[i]));
    const auto found = build_ids.find(read.profile.text(image.long_name));
    if (!image.build_id.empty() || found == build_ids.end()) continue;
    image.build_id.assign(found->second.begin(), found->second.end());
    spec.build_id = image.build_id;
  }
  return WithImages(std::move(read.profile), specs, names);
}

absl::Status ReadInto(perf_data::Recording& recording, profile::ProfileBuilder& builder,
                      const std::function<void(const perf_data::TimedRecord&)>& on_record,
                      const perf_data::Recording::Window& window) {
  for (const auto& entry : recording.features().build_ids) {
    builder.AddBuildId(NameInBuildIds(entry), entry.build_id);
  }
  size_t known_events = builder.profile().events.size();
  const auto add = [&](const perf_data::TimedRecord& timed) {
    AddNewEvents(recording.events(), known_events, builder);
    builder.Add(timed.record, timed.event, timed.time);
    if (on_record) on_record(timed);
  };
  return recording.ForEach(perf_data::Recording::Order::kTime, add, window);
}

perf_data::Recording::Window WindowOf(const perf_data::Recording& recording,
                                      const profile::SampleSelection& samples) {
  const auto& events = recording.events();
  const bool needs_all =
      recording.layout().pipe || std::any_of(events.begin(), events.end(), [](const auto& event) {
        return profile::DependOnFormerOnes(event.attr);
      });
  if (needs_all) return {};
  return {.first = samples.first, .last = samples.last};
}

namespace {

// Returns the size of the features' facts about images, which grows while a pipe is read.
std::pair<size_t, size_t> ToldOfImages(const perf_data::Features& features) {
  return {perf_data::OwnSection(features, perf_data::kFeatureNames).size(),
          features.build_ids.size()};
}

// Returns the profile that the recording carries, if that suffices.
std::optional<profile::Profile> StoredProfile(const perf_data::Recording& recording,
                                              const profile::Wanted& wanted) {
  return profile::DecodeProfile(
      perf_data::OwnSection(recording.features(), perf_data::kFeatureSums),
      recording.layout().data.size, wanted);
}

// True if the view needs branches, which stored profiles do not have.
bool WantsBranches(const perf_data::Recording& recording, const LoadOptions& options) {
  const auto& events = recording.events();
  return options.keep_branches && std::any_of(events.begin(), events.end(), [](const auto& event) {
           return (event.attr.sample_type & perf_event::kSampleBranchStack) != 0;
         });
}

// Returns the number of threads that read the recording.
uint32_t ThreadsFor(const perf_data::Recording& recording, const LoadOptions& options) {
  constexpr uint32_t kMost = 16;
  constexpr uint64_t kSmall = 4 << 20;  // takes a few milliseconds
  if (options.threads != 0) return options.threads;
  const bool is_small = !recording.layout().pipe && recording.layout().data.size < kSmall;
  return is_small ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
}

// A recording that was read, before its frames have names.
struct ReadRecording {
  std::unique_ptr<perf_data::Recording> recording;
  profile::UnnamedProfile unnamed;
  absl::Status reading;
  std::unique_ptr<symbolize::NameStore> names;
};

absl::StatusOr<ReadRecording> Read(const std::string& path, const LoadOptions& options) {
  ReadRecording read;
  PROFILER_ASSIGN_OR_RETURN(read.recording, importers::OpenRecording(path, options.open));
  PROFILER_ASSIGN_OR_RETURN(auto samples, SelectionOf(*read.recording, options));
  const perf_data::Features& features = read.recording->features();
  const auto told_in_front = ToldOfImages(features);
  read.names = MakeNameStore(features, options.naming);
  const profile::Wanted wanted{options.keep_thread, options.dimensions, std::move(samples)};
  std::optional<profile::Profile> stored;
  if (!options.keep_order && !options.on_record && !options.weigh_accesses &&
      !WantsBranches(*read.recording, options)) {
    stored = StoredProfile(*read.recording, wanted);
  }
  if (stored) {
    read.unnamed = WithImages(*std::move(stored), *read.names);
  } else {
    profile::BuilderOptions keep =
        BuilderOptionsFor(read.recording->events(), features, options.naming);
    keep.clock.ended = LastWritten(path);
    keep.dimensions = wanted.dimensions;
    keep.dimensions[static_cast<size_t>(profile::Dimension::kSlice)] |= options.is_browsed;
    keep.slices = SlicesOf(features);
    keep.keep_thread = wanted.threads;
    keep.samples = wanted.samples;
    keep.keep_branches = options.keep_branches;
    keep.keep_call_branches =
        options.keep_call_branches || features.other.contains(perf_data::kFeatureBranchStack);
    keep.keep_order = options.keep_order;
    keep.keep_callers = options.keep_callers;
    keep.time_quantum = options.time_quantum;
    keep.weigh_accesses = options.weigh_accesses;
    keep.threads = ThreadsFor(*read.recording, options);
    if (options.describe_tracepoint) {
      keep.describe_tracepoint = [&](std::span<const std::byte> raw, uint32_t cpu, std::string* out,
                                     std::vector<uint64_t>* functions) {
        options.describe_tracepoint(*read.recording, raw, cpu, out, functions);
      };
    }
    profile::ProfileBuilder builder(*read.names, keep);
    std::function<void(const perf_data::TimedRecord&)> on_record;
    if (options.on_record || options.on_progress) {
      const uint64_t size = read.recording->layout().pipe ? 0 : read.recording->layout().data.size;
      on_record = [&, size, records = size_t{0}](const perf_data::TimedRecord& timed) mutable {
        constexpr size_t kRarely = 4096;
        const bool has_place = timed.file_offset != 0;  // false for a sample that is passed over
        if (options.on_progress && has_place && ++records % kRarely == 0) {
          options.on_progress({.done = timed.file_offset, .all = size});
        }
        if (options.on_record) options.on_record(*read.recording, timed);
      };
    }
    const perf_data::Recording::Window window = options.on_record
                                                    ? perf_data::Recording::Window()
                                                    : WindowOf(*read.recording, keep.samples);
    read.reading = ReadInto(*read.recording, builder, on_record, window);
    read.unnamed = std::move(builder).Unnamed();
  }
  if (ToldOfImages(features) != told_in_front) {
    const std::unique_ptr<symbolize::NameStore> before =
        std::exchange(read.names, MakeNameStore(features, options.naming));
    read.unnamed = WithLateFeatures(std::move(read.unnamed), *before, features, *read.names);
  }
  if (options.is_browsed && !stored && profile::CanPutInOrder(read.unnamed.profile)) {
    profile::PutInOrder(read.unnamed.profile);
  }
  return read;
}

absl::StatusOr<std::vector<profile::TimeSpan>> SpansOf(
    const perf_data::Recording& recording, const std::vector<perf_data::TimeRange>& ranges) {
  std::vector<profile::TimeSpan> spans;
  for (perf_data::TimeRange range : ranges) {
    if (range.begin_percent.has_value()) {
      const auto& all = recording.features().sample_time;
      // perf writes zeroes if a stream cannot have the times in front.
      if (!all || all->last == 0) {
        return absl::InvalidArgumentError(
            "--time: the recording does not say when its samples were taken: give seconds");
      }
      range = range.Within(*all);
    }
    spans.push_back({range.begin, range.end});
  }
  return spans;
}

void SetRecorderFacts(const perf_data::Features& features, profile::Profile& profile) {
  const auto recorder = perf_data::ReadRecorder(features);
  if (!recorder) return;
  profile.copied_stack = recorder->copied_stack;
  for (const perf_data::RecorderFacts::Estimate& estimate : recorder->estimates) {
    for (profile::Event& event : profile.events) {
      if (profile.text(event.name) != estimate.event) continue;
      event.estimate = {.switches = estimate.switches,
                        .sampled = std::min(estimate.sampled, estimate.switches),
                        .period = std::min(estimate.time, event.period),
                        .samples = estimate.placeholders};
    }
  }
}

}  // namespace

absl::StatusOr<profile::SampleSelection> SelectionOf(const perf_data::Recording& recording,
                                                     const LoadOptions& options) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if (options.cpus.empty() || perf_event::IsDummy(event.attr)) continue;
    if ((event.attr.sample_type & perf_event::kSampleCpu) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("-C: the samples of ", event.name,
                       " do not say on which CPU they were taken: leave out -C"));
    }
  }
  profile::SampleSelection selection{.cpus = options.cpus};
  PROFILER_ASSIGN_OR_RETURN(selection.spans, SpansOf(recording, options.times));
  if (selection.spans.empty()) return selection;
  selection.first = UINT64_MAX;
  selection.last = 0;
  for (const profile::TimeSpan& span : selection.spans) {
    selection.first = std::min(selection.first, span.first);
    selection.last = std::max(selection.last, span.last);
  }
  if (selection.spans.size() == 1) selection.spans.clear();
  return selection;
}

namespace {

profile::Profile NamedWith(profile::UnnamedProfile unnamed, ReadRecording& read,
                           const LoadOptions& options) {
  if (!options.on_progress) return Named(std::move(unnamed), *read.names);
  const size_t all = unnamed.profile.frames.size();
  WatchedNames names(*read.names, [&](size_t named) {
    options.on_progress({.step = LoadProgress::Step::kNaming, .done = named, .all = all});
  });
  return Named(std::move(unnamed), names);
}

}  // namespace

absl::StatusOr<LoadedProfile> LoadUnnamedProfile(const std::string& path,
                                                 const LoadOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(ReadRecording read, Read(path, options));
  return LoadedProfile{std::move(read.recording), std::move(read.unnamed.profile), read.reading,
                       nullptr};
}

absl::StatusOr<LoadedProfile> LoadProfile(const std::string& path, const LoadOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(ReadRecording read, Read(path, options));
  const perf_data::Features& features = read.recording->features();
  if (FetchesFiles(options.naming.fetch)) {
    FetchMissingFiles(options.naming, features, *read.names, SharesOfImages(read.unnamed));
  }
  LoadedProfile loaded{std::move(read.recording), NamedWith(std::move(read.unnamed), read, options),
                       read.reading, nullptr};
  read.names->SaveToCache();
  auto chains = perf_data::ReadChainQuality(loaded.recording->features());
  if (chains) loaded.profile.chains = *std::move(chains);
  if (!options.keep_callers) loaded.profile.chains = {};
  loaded.profile.losses.is_incomplete = loaded.recording->is_incomplete() || !loaded.reading.ok();
  SetRecorderFacts(loaded.recording->features(), loaded.profile);
  if (options.keep_names) loaded.names = std::move(read.names);
  return loaded;
}

}  // namespace profiler::naming

// Loads a recording as a named Profile. Views get it from cli::LoadView, which also prepares it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/format/time_range.h"
#include "src/format/perf_data/read/recording.h"
#include "src/importers/open_recording.h"
#include "src/profile/naming/naming.h"
#include "src/profile/profile.h"
#include "src/profile/profile_builder.h"
#include "src/profile/profile_codec.h"

namespace profiler::naming {

// The progress of LoadProfile.
struct LoadProgress {
  enum class Step : uint8_t { kReading, kNaming };
  Step step = Step::kReading;
  uint64_t done = 0;  // kReading: bytes of the recording; kNaming: addresses
  uint64_t all = 0;   // the same in total; 0: unknown, as for a pipe
};

struct LoadOptions {
  importers::OpenOptions open;
  bool keep_thread = true;     // False: threads with the same name are merged.
  bool keep_branches = false;  // True: keep branches of samples with branch stacks.
  // True if the processor's call stacks also count as branches, even if `perf record` used them for
  // call chains (--call-graph lbr). Call stacks recorded with -j stack always count as branches.
  bool keep_call_branches = false;
  bool keep_order = false;  // True: keep the order of samples, for statistical errors.
  // True: prepare the profile for a view that makes many tables. Its tables are sorted
  // (profile::PutInOrder), if CanPutInOrder. If the records are read, it also keeps
  // Dimension::kSlice, because to read them again takes much longer.
  bool is_browsed = false;
  // As profile::BuilderOptions::keep_callers. If false, the profile says nothing about chains.
  bool keep_callers = true;
  profile::DimensionSet dimensions{};
  std::vector<perf_data::TimeRange> times;  // times of the samples that count; empty: any
  std::vector<uint32_t> cpus;               // CPUs of the samples that count; empty: any
  uint64_t time_quantum = 100'000'000;  // length of a quantum of profile::Dimension::kTime, in ns
  bool weigh_accesses = false;          // as profile::BuilderOptions::weigh_accesses
  // As profile::BuilderOptions::threads; 0: the number of CPUs, at most 16, or 1 if the recording is
  // small.
  uint32_t threads = 0;
  // For profile::Dimension::kTrace: appends the text of the raw data of a tracepoint's sample, and
  // the addresses of functions in that text.
  std::function<void(const perf_data::Recording&, std::span<const std::byte> raw, uint32_t cpu,
                     std::string* out, std::vector<uint64_t>* functions)>
      describe_tracepoint;
  // Called for every record, in time order, for callers that need more than a profile: a pipe can
  // be read only once.
  std::function<void(const perf_data::Recording&, const perf_data::TimedRecord&)> on_record;
  // Called after every 4096th record and every 64th address. Empty: progress is not reported.
  std::function<void(const LoadProgress&)> on_progress;
  NamingOptions naming;
  bool keep_names = false;  // True: return the NameStore in LoadedProfile::names.
};

struct LoadedProfile {
  std::unique_ptr<perf_data::Recording> recording;
  profile::Profile profile;
  // The error that ended the reading early. The profile has everything before it.
  absl::Status reading;
  // The names of the profile; null unless keep_names.
  std::unique_ptr<symbolize::NameStore> names;
};

// Loads a recording. Returns an error only if there is nothing to show.
absl::StatusOr<LoadedProfile> LoadProfile(const std::string& path, const LoadOptions& options);

// Loads a recording whose frames have only an image and an address, to list the images. Neither
// opens nor fetches images.
absl::StatusOr<LoadedProfile> LoadUnnamedProfile(const std::string& path,
                                                 const LoadOptions& options);

// Returns the samples that `options.times` and `options.cpus` select. Returns kInvalidArgument in
// two cases. Either `times` has percents, but the recording lacks the times of its samples. Or
// `cpus` selects CPUs, but the samples of an event lack their CPU.
absl::StatusOr<profile::SampleSelection> SelectionOf(const perf_data::Recording& recording,
                                                     const LoadOptions& options);

// Returns the window of a pass (Recording::ForEach) for a builder that has this selection: the
// selected time, or all time if samples outside of it change how later samples count, or if the
// events are not known yet.
perf_data::Recording::Window WindowOf(const perf_data::Recording& recording,
                                      const profile::SampleSelection& samples);

// Returns the options that a builder needs for a recording with these events and features. Leaves
// out the options that say what the profile keeps.
profile::BuilderOptions BuilderOptionsFor(const std::vector<perf_data::EventDescription>& events,
                                          const perf_data::Features& features,
                                          const NamingOptions& naming);

// Returns the time slices of a recording's profile, which cover the time that the features state.
// Returns one slice if the features state no time.
profile::TimeSlices SlicesOf(const perf_data::Features& features);

// Adds all events except the first `known` ones to a builder, and sets `known` to the number of
// events.
void AddNewEvents(const std::vector<perf_data::EventDescription>& events, size_t& known,
                  profile::ProfileBuilder& builder);

// Completes a profile of a recording whose features followed its samples. Returns the profile that
// would result if the features had come first. The images get the build-ids of the features, and
// become images of `names`, a new store.
profile::UnnamedProfile WithLateFeatures(profile::UnnamedProfile read,
                                         const symbolize::Symbolizer& before,
                                         const perf_data::Features& features,
                                         symbolize::NameStore& names);

// Passes the whole recording to a new builder, and each record to `on_record` if it is set. Passes
// over samples outside of `window`. Returns the error that ended the reading early.
absl::Status ReadInto(perf_data::Recording& recording, profile::ProfileBuilder& builder,
                      const std::function<void(const perf_data::TimedRecord&)>& on_record = nullptr,
                      const perf_data::Recording::Window& window = {});

}  // namespace profiler::naming

// From a recording's name to a named Profile: the way that every view begins.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/naming/naming.h"
#include "src/perf_data/format/time_range.h"
#include "src/perf_data/read/recording.h"
#include "src/profile/profile.h"
#include "src/profile/profile_builder.h"
#include "src/profile/profile_codec.h"
#include "src/query/filter.h"
#include "src/query/name_rules.h"

namespace profiler::naming {

struct LoadOptions {
  bool keep_thread = true;     // else the threads of one name are one
  bool keep_branches = false;  // of samples that have branch stacks
  // True if a call stack of the processor counts as branches even where `perf record` was asked for
  // call chains (--call-graph lbr), not for branches (-j stack).
  bool keep_call_branches = false;
  bool keep_order = false;  // of the samples, for figures of chance
  profile::DimensionSet dimensions{};
  std::vector<perf_data::TimeRange> times;  // of the samples that count; empty: any
  std::vector<uint32_t> cpus;               // that they were taken on; empty: any
  uint64_t time_quantum = 100'000'000;      // of profile::Dimension::kTime, nanoseconds
  bool weigh_accesses = false;              // profile::BuilderOptions'
  // For profile::Dimension::kTrace: appends what the raw data of a tracepoint's sample say, and the
  // addresses of functions in that text.
  std::function<void(const perf_data::Recording&, std::span<const std::byte> raw, uint32_t cpu,
                     std::string* out, std::vector<uint64_t>* functions)>
      describe_tracepoint;
  // Called for every record, in time order, for who wants more of them than a profile: they may
  // come through a pipe, which is read once.
  std::function<void(const perf_data::Recording&, const perf_data::TimedRecord&)> on_record;
  query::Filter filter;  // by name and id, for the view to apply
  NamingOptions naming;
  query::NameRules names;
  bool fold_native = false;  // query::FoldNative
  bool keep_names = false;   // for who asks for more than names
};

struct LoadedProfile {
  std::unique_ptr<perf_data::Recording> recording;
  profile::Profile profile;
  // What ended the reading early. The profile has everything before that.
  absl::Status reading;
  // What named it; null unless asked for.
  std::unique_ptr<symbolize::NameStore> names;
};

// An error when there is nothing to show at all.
absl::StatusOr<LoadedProfile> LoadProfile(const std::string& path, const LoadOptions& options);

// Likewise, but its frames have an image and an address alone: for who asks which images there are.
// Opens no image, and fetches none.
absl::StatusOr<LoadedProfile> LoadUnnamedProfile(const std::string& path,
                                                 const LoadOptions& options);

// Which samples `times` and `cpus` choose. kInvalidArgument where the recording does not say when
// its samples were taken, and percents of that time are asked for, or where samples of an event do
// not say their CPU.
absl::StatusOr<profile::SampleSelection> SelectionOf(const perf_data::Recording& recording,
                                                     const LoadOptions& options);

// What a builder has to know of a recording with these events and features, whatever is kept of its
// samples.
profile::BuilderOptions BuilderOptionsFor(const std::vector<perf_data::EventDescription>& events,
                                          const perf_data::Features& features,
                                          const NamingOptions& naming);

// The slices of time that a recording's profile has: of the time that its features tell; one for
// all where they tell none.
profile::TimeSlices SlicesOf(const perf_data::Features& features);

// Tells a builder of the events beyond the first `known` ones, and counts these in.
void AddNewEvents(const std::vector<perf_data::EventDescription>& events, size_t& known,
                  profile::ProfileBuilder& builder);

// The profile of a recording whose features came behind its samples, as if they had come before:
// its images have the build-ids that these tell, and are those of `names`, a new store.
profile::UnnamedProfile WithLateFeatures(profile::UnnamedProfile read,
                                         const symbolize::Symbolizer& before,
                                         const perf_data::Features& features,
                                         symbolize::NameStore& names);

// Hands the whole recording to a builder that is new, and each record to `on_record` if that is
// given. Returns what stopped the reading early.
absl::Status ReadInto(
    perf_data::Recording& recording, profile::ProfileBuilder& builder,
    const std::function<void(const perf_data::TimedRecord&)>& on_record = nullptr);

}  // namespace profiler::naming

// Makes a profile from records in time order.
//
//   ProfileBuilder builder(symbolizer);
//   builder.AddEvent("cpu-clock", attr);
//   for each record: builder.Add(record, /*event=*/0, time);
//   Profile profile = std::move(builder).Finish();
//
//   record  ──▶ MMAP, COMM, FORK …  ──▶ Sideband ──▶ AddressSpaces, ImageTable, ThreadTable
//               SAMPLE  ──▶ Samples ──▶ (UserUnwinder) ──▶ ChainResolver ──▶ Row
//               LOST, THROTTLE …     ──▶ Losses, MissingSamples
//   Finish  ──▶ name_profile.h: names every distinct frame once
//
// Cost: a sample whose call chain is known in its process costs a hash of the chain's bytes and
// three waits for memory, which overlap with the waits of neighbouring samples. A new chain costs
// two more look-ups for each frame that it does not share with the last new chain. Memory grows
// with distinct chains and rows, not with samples. profile_builder_benchmark measures both.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "src/profile/name_profile.h"
#include "src/profile/profile.h"
#include "src/profile/recorded_clock.h"
#include "src/profile/sample_details.h"
#include "src/profile/sample_selection.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/registers.h"

namespace profiler::profile {

struct BuilderOptions {
  // Dimensions that distinguish rows, besides event, thread and stack. Without `keep_thread`,
  // threads with the same name are one Thread, with pid and tid 0. Dimension::kSlice needs at least
  // one of `slices`.
  DimensionSet dimensions{};
  bool keep_thread = true;
  TimeSlices slices;
  uint64_t time_quantum = 100'000'000;  // length of a quantum of Dimension::kTime in ns; at least 1
  // For Dimension::kTrace: appends the text of the raw data of a tracepoint's sample, and the
  // addresses of functions in that text.
  std::function<void(std::span<const std::byte> raw, uint32_t cpu, std::string* out,
                     std::vector<uint64_t>* functions)>
      describe_tracepoint;

  // True if the weight of a sample is the cost of its access to memory (PERF_SAMPLE_WEIGHT, at
  // least 1) instead of its period.
  bool weigh_accesses = false;

  // Samples outside of this selection are ignored. Losses that have records of their own still
  // describe the whole recording. Damaged samples count if their times are selected.
  SampleSelection samples;

  // True: frames at one place of an image are distinct if their runtime addresses differ, as they
  // do between processes.
  bool keep_addresses = false;
  // True: the profile keeps the branches of events whose samples have branch stacks. A branch stack
  // of calls that forms the user part of a call chain (branch_chain.h) is kept only with
  // `keep_call_branches`.
  bool keep_branches = false;
  bool keep_call_branches = false;
  // True: the profile keeps the order of the samples, and the weights of samples next to missing
  // samples. Costs sixteen bytes per sample.
  bool keep_order = false;
  // False: stacks have only their innermost entry, and copied stacks are not unwound. For a view
  // that shows no callers, at less than half the cost. Chains are not judged then.
  bool keep_callers = true;
  // The number of threads that read; at least 1. With more than one, a second thread interns stacks
  // and counts samples, unless `on_samples` is set. The profile is the same.
  uint32_t threads = 1;

  // False: the profile has no rows, for a view that only needs `on_samples`.
  bool keep_rows = true;

  // Architecture of the recorded machine, by which registers in samples are read.
  symbolize::Architecture architecture = symbolize::kNativeArchitecture;

  // The options for finding image files, which are needed to unwind samples with copied stacks.
  symbolize::SymbolizerOptions files;

  // The recording's clock. With it, files of processes that run now are not taken for files of
  // recorded processes.
  RecordedClock clock;

  // True if user entries of call chains lie inside the call instructions instead of behind them, as
  // in chains that our recorder unwinds.
  bool exact_user_chains = false;

  // Called for all samples, in order, several at a time, as rows of count 1 whose frames are named.
  // The arguments are valid during the call. A sample whose user call chain is deferred is passed
  // when that chain has arrived.
  //
  // With `whole_samples`, each call is for one SAMPLE record, `sample`, and has several rows if the
  // record read the counters of a group. Otherwise `sample` is null, and each call is for some
  // dozen samples, at a fraction of the cost per sample.
  std::function<void(const Profile& profile, std::span<const SampleRow> rows,
                     const perf_event::Sample* sample)>
      on_samples;
  bool whole_samples = false;
  // False: only Name() names frames, and Finish() if rows are kept. For a view that shows the names
  // of few frames, or that asks for the names of many samples at once, at a fraction of the cost.
  bool name_frames = true;
};

// The builder. Not thread-safe. `symbolizer` must outlive the builder, but not the profile.
class ProfileBuilder {
 public:
  explicit ProfileBuilder(symbolize::Symbolizer& symbolizer, BuilderOptions options = {});
  ~ProfileBuilder();
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;

  // Adds an event; events are numbered in the order of these calls. An event may be added late, but
  // before its first record. `ids` are the ids of the event's counters. Samples that read a group
  // of counters refer to its members by these ids.
  EventId AddEvent(std::string_view name, const perf_event::Attr& attr,
                   std::span<const uint64_t> ids = {});

  // Sets the build-id of a file, vdso or kernel ("[kernel.kallsyms]") for MMAP2 records without
  // one. Call it before the first record.
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);

  // Adds a record, which must be in native byte order. Records are added in time order. `time` is
  // in ns; 0: the record has none. Malformed records are counted in Losses; perf's own types (from
  // 64 on) are ignored.
  void Add(perf_event::RawRecord record, uint32_t event, uint64_t time);

  // FrameAt returns the frame at an address of a process. ThreadOf returns a thread under its
  // present name. Both describe the state after the last record. They serve views that show single
  // records, and may also be called by `on_samples`. Addresses in the upper half belong to the
  // kernel. The returned frame is named (if name_frames). For PERF_CONTEXT_* markers, FrameAt returns kNoFrame.
  FrameId FrameAt(uint32_t pid, uint64_t address);
  ThreadId ThreadOf(uint32_t pid, uint32_t tid);
  // Names frames that have no names yet, because BuilderOptions::name_frames is false. `on_samples`
  // may call it.
  void Name(std::span<const FrameId> frames);

  // Returns the profile so far. Its frames have names only if `on_samples` is given. Valid until
  // the next call.
  const Profile& profile() const;

  // True if the profile depends only on the records. False if the stacks of an event added so far
  // are unwound, because that needs the images' files.
  bool IsOfRecordsAlone() const;

  // Unnamed returns the profile without names; only allowed if no view has seen samples yet. Finish
  // returns the profile with names.
  UnnamedProfile Unnamed() &&;
  Profile Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::profile

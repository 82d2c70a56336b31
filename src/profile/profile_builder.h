// Makes a profile of records that come in time order.
//
//   ProfileBuilder builder(symbolizer);
//   builder.AddEvent("cpu-clock", attr);
//   for each record: builder.Add(record, /*event=*/0, time);
//   Profile profile = std::move(builder).Finish();
//
//   record  ──▶ MMAP, COMM, FORK …  ──▶ Sideband ──▶ AddressSpaces, ImageTable, ThreadTable
//               SAMPLE  ──▶ Samples ──▶ (UserUnwinder) ──▶ ChainResolver ──▶ Row
//               LOST, THROTTLE …     ──▶ Losses, MissingSamples
//   Finish  ──▶ name_profile.h: every distinct frame once
//
// Cost: a sample whose call chain was seen before in its process is a hash of the chain's bytes and
// three waits for memory, which overlap with those of its neighbours; a new one is two look-ups
// more for each frame that it does not share with the last new one. Memory: by distinct chains and
// rows, not by samples. profile_builder_benchmark measures both.

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

#include "src/perf_event/attr.h"
#include "src/perf_event/codec.h"
#include "src/profile/name_profile.h"
#include "src/profile/profile.h"
#include "src/profile/recorded_clock.h"
#include "src/profile/sample_details.h"
#include "src/profile/sample_selection.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/registers.h"

namespace profiler::profile {

struct BuilderOptions {
  // What tells rows apart besides event, thread and stack. Without `keep_thread` the threads of one
  // name are one Thread, with pid and tid 0. Dimension::kSlice needs `slices`, one at least.
  DimensionSet dimensions{};
  bool keep_thread = true;
  TimeSlices slices;
  uint64_t time_quantum = 100'000'000;  // of Dimension::kTime, in nanoseconds; at least 1
  // For Dimension::kTrace: appends what the raw data of a tracepoint's sample say, and the
  // addresses of functions in that text.
  std::function<void(std::span<const std::byte> raw, uint32_t cpu, std::string* out,
                     std::vector<uint64_t>* functions)>
      describe_tracepoint;

  // Samples weigh what their access to memory cost (PERF_SAMPLE_WEIGHT), 1 at least, instead of
  // their periods.
  bool weigh_accesses = false;

  // Samples that are not of these are passed over. Losses are those of the whole recording.
  SampleSelection samples;

  // Frames at one place of an image are told apart by their runtime addresses, which differ between
  // processes.
  bool keep_addresses = false;
  // The profile has branches, of events whose samples have branch stacks. A branch stack of calls
  // that is the user part of a call chain (branch_chain.h) is not one unless
  // `keep_call_branches` says so.
  bool keep_branches = false;
  bool keep_call_branches = false;
  // The profile has the order of the samples, and what each weighs where others are missing:
  // sixteen bytes each.
  bool keep_order = false;
  // Without it the profile has no rows: for a view that only wants `on_samples`.
  bool keep_rows = true;

  // Of the machine that was recorded: whose registers samples have.
  symbolize::Architecture architecture = symbolize::kNativeArchitecture;

  // Where the images of samples that bring their stacks are looked for, to unwind them.
  symbolize::SymbolizerOptions files;

  // Tells processes that run now from those that were recorded, where images are looked for.
  RecordedClock clock;

  // User entries of call chains lie in the instructions themselves, not behind the calls, as our
  // recorder writes those that it unwinds.
  bool exact_user_chains = false;

  // Called for all samples, in order, some at a time, as rows of count 1 whose frames are named.
  // What the call gets is valid during the call. Samples whose user call chain was deferred come
  // when that has come. With `whole_samples` each call is for one SAMPLE record, which `sample`
  // holds: more than one row if it read the counters of a group. Otherwise `sample` is null, and
  // the calls, for some dozens of samples each, cost a fraction.
  std::function<void(const Profile& profile, std::span<const SampleRow> rows,
                     const perf_event::Sample* sample)>
      on_samples;
  bool whole_samples = false;
};

// Not thread-safe. `symbolizer` must outlive it, not the profile.
class ProfileBuilder {
 public:
  explicit ProfileBuilder(symbolize::Symbolizer& symbolizer, BuilderOptions options = {});
  ~ProfileBuilder();
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;

  // Events are numbered in the order of these calls, as Add names them. They may come while records
  // do, before the first record of theirs. `ids` are those of the event's counters, by which
  // samples that read a group of counters name its members.
  EventId AddEvent(std::string_view name, const perf_event::Attr& attr,
                   std::span<const uint64_t> ids = {});

  // The build-id of a file, vdso or kernel ("[kernel.kallsyms]") that MMAP2 records give none for.
  // Before the first record.
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);

  // A record in native byte order, in time order, with its event and its time in nanoseconds (0:
  // none). Records that make no sense are counted in Losses; perf's own (from 64 on) are passed
  // over.
  void Add(perf_event::RawRecord record, uint32_t event, uint64_t time);

  // What stands at an address of a process, and what a thread is called, as of the last record. For
  // views that show records one by one, `on_samples` among them. An address in the upper half is
  // the kernel's. The frame is named; kNoFrame for PERF_CONTEXT_* markers.
  FrameId FrameAt(uint32_t pid, uint64_t address);
  ThreadId ThreadOf(uint32_t pid, uint32_t tid);

  // The profile as far as it is; frames have names only where `on_samples` is given. Valid until
  // the next call.
  const Profile& profile() const;

  // Whether the profile is told by the records alone. It is not where the stacks of an event, of
  // those added so far, are to be unwound, for that takes the images' files.
  bool IsOfRecordsAlone() const;

  // Gives the profile away: without names, where no view has seen samples yet, or with them.
  UnnamedProfile Unnamed() &&;
  Profile Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::profile

// Turns the stream of a recording into windows: named profiles of equal stretches of time.
//
//   recording as a stream ─▶ WrittenStream ─▶ ProfileBuilder ─▶ named samples ─▶ windows
//                                   └───────▶ WhatRuns ─▶ the start of the next builder
//
// A builder's memory grows with distinct stacks, and code that JITs make gets names only from a
// fresh look at their maps. So a new builder, with a new store of names, takes over now and then.
// It begins with the records of WhatRuns.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/format/perf_data/read/written_stream.h"
#include "src/live/merged_profile.h"
#include "src/profile/naming/naming.h"
#include "src/profile/profile.h"
#include "src/profile/profile_builder.h"
#include "src/record/what_runs.h"
#include "symbolize/names/name_store.h"

namespace profiler::live {

// Samples that a window counts and does not contain.
struct LeftOut {
  uint64_t own = 0;   // samples of this program itself
  uint64_t idle = 0;  // samples of CPUs that had nothing to do

  LeftOut& operator+=(const LeftOut& other) {
    own += other.own;
    idle += other.idle;
    return *this;
  }
  LeftOut& operator-=(const LeftOut& other) {
    own -= other.own;
    idle -= other.idle;
    return *this;
  }
};

// A stretch of time. Does not change any more; reading is thread-safe.
struct Window {
  uint64_t begin = 0, end = 0;  // CLOCK_MONOTONIC, ns
  // The samples of the window, and the losses that the kernel reported in it.
  profile::Profile profile;
  LeftOut left_out;
  // Sum of periods, and number of samples, of the first event, without idle CPUs, with this program.
  uint64_t busy = 0, busy_samples = 0;

  std::chrono::nanoseconds length() const {
    return std::chrono::nanoseconds(static_cast<int64_t>(end - begin));
  }
};

struct WindowOptions {
  naming::NamingOptions naming;
  std::chrono::nanoseconds window{std::chrono::seconds(1)};
  // Time after which a new builder takes over.
  std::chrono::nanoseconds builder{std::chrono::minutes(5)};
  // A builder with more stack nodes is replaced, too. Bounds the memory of a builder.
  size_t most_stacks = 1 << 20;
  bool keeps_cpu = false, keeps_cgroup = false;  // dimensions of the windows' rows
  // Processes of this program. Their samples, and those of children that they start later, are left
  // out.
  std::vector<uint32_t> own_pids;
  bool keeps_idle = false;  // True: idle CPUs are part of the windows.
};

// A maker of windows. Use it from one thread.
class WindowMaker {
 public:
  WindowMaker(WindowOptions options, std::function<void(Window)> on_window);

  // Takes bytes of the stream: the records of complete rounds count.
  void Take(std::span<const std::byte> bytes);
  // Passes on the windows that ended before `now` (CLOCK_MONOTONIC, ns). Samples arrive some tenths
  // of a second after their time; samples that are later still count in the next window.
  void CloseUntil(uint64_t now);
  // Takes the rest of the stream, which is complete, and passes on the last windows. Call it once,
  // last. Returns the stream's error, if any.
  absl::Status Finish();

  // Returns the events of the stream, once its first bytes were taken.
  const std::vector<perf_data::EventDescription>& events() const { return stream_.events(); }

 private:
  // A row's place in the tables of the present builder: event, thread, self, stack, CPU, cgroup.
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  struct Sum {
    uint64_t count = 0, period = 0;
  };
  struct OpenWindow {
    absl::flat_hash_map<Key, Sum> sums;  // in ids of the present builder
    MergedProfile merged;                // rows of the builders before
    LeftOut left_out;
    uint64_t busy = 0, busy_samples = 0;
  };

  void Add(const perf_data::TimedRecord& timed);
  void NoteOwn(const perf_data::TimedRecord& timed, const perf_event::RecordLayout& layout);
  bool TakeOwn(const perf_data::TimedRecord& timed);
  OpenWindow& WindowAt(uint64_t time);
  void CountWaiting();
  void Count(const profile::Profile& profile, std::span<const profile::SampleRow> rows);
  void BeginBuilder();
  void ReplaceBuilder();
  void Flush(OpenWindow& window);
  void TakeLosses(OpenWindow& window);
  void Close(uint64_t index);
  bool IsIdle(const profile::Profile& profile, const profile::SampleRow& row);

  const WindowOptions options_;
  const std::function<void(Window)> on_window_;
  const uint64_t began_;  // CLOCK_MONOTONIC, ns
  std::unique_ptr<symbolize::NameStore> names_;
  std::optional<record::WhatRuns> what_runs_;  // set once the events are known
  std::optional<profile::ProfileBuilder> builder_;
  size_t events_ = 0;                        // number of events that builder_ has
  std::vector<profile::SampleRow> waiting_;  // samples whose frames have no names yet
  uint32_t named_ = 0;                       // frames of builder_ before it have names
  uint64_t builder_began_ = 0;               // CLOCK_MONOTONIC, ns
  profile::Losses told_losses_;              // losses of builder_ that windows have
  std::vector<int8_t> is_idle_;          // [symbol]: 1 if it is the idle loop; -1: not known yet
  std::set<uint32_t> own_pids_;          // this program's processes that run now
  std::map<uint64_t, OpenWindow> open_;  // keyed by index: time divided by the window's length
  uint64_t first_open_ = 0;              // windows before it are closed
  std::vector<std::byte> start_;         // scratch of ReplaceBuilder
  perf_data::WrittenStream stream_;
};

}  // namespace profiler::live

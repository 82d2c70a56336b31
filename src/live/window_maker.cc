#include "src/live/window_maker.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/base/clock.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/records.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::live {
namespace {

using profile::Profile;

// Time that samples may need from the ring to here: two passes over the rings, and some more.
constexpr uint64_t kLateness = 300'000'000;  // ns

naming::NamingOptions OfThisMachine(naming::NamingOptions naming) {
  naming.is_this_machine = true;
  return naming;
}

// True for functions in which the kernel's idle thread waits for an interrupt.
bool IsNameOfIdleLoop(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
  return has("idle") || has("halt") || has("mwait") || has("acpi_processor_ffh");
}

profile::Losses Difference(const profile::Losses& now, const profile::Losses& before) {
  profile::Losses losses;
  losses.lost_records = now.lost_records - before.lost_records;
  losses.lost_samples = now.lost_samples - before.lost_samples;
  losses.lost_events = now.lost_events - before.lost_events;
  losses.throttled = now.throttled - before.throttled;
  losses.undecodable = now.undecodable - before.undecodable;
  losses.corrupt_chains = now.corrupt_chains - before.corrupt_chains;
  losses.unknown_records = now.unknown_records - before.unknown_records;
  return losses;
}

}  // namespace

WindowMaker::WindowMaker(WindowOptions options, std::function<void(Window)> on_window)
    : options_(std::move(options)),
      on_window_(std::move(on_window)),
      began_(MonotonicNow()),
      names_(naming::MakeNameStore({}, OfThisMachine(options_.naming))),
      stream_([this](const perf_data::TimedRecord& timed) { Add(timed); }) {
  own_pids_.insert(options_.own_pids.begin(), options_.own_pids.end());
}

void WindowMaker::Take(std::span<const std::byte> bytes) {
  stream_.Take({&bytes, 1});
  if (what_runs_) what_runs_->EndPass();
  CountWaiting();
}

// Names the frames of the samples that wait, all at once, and counts the samples. Each image is
// asked once: a question to the confined process costs more than to name an address.
void WindowMaker::CountWaiting() {
  if (!builder_) return;
  const Profile& profile = builder_->profile();
  std::vector<profile::FrameId> frames;
  for (; named_ < profile.frames.size(); ++named_) frames.push_back(profile::FrameId{named_});
  if (!frames.empty()) builder_->Name(frames);
  Count(profile, waiting_);
  waiting_.clear();
}

// The stream has its events in front of the first record of the kernel.
void WindowMaker::Add(const perf_data::TimedRecord& timed) {
  if (timed.record.type() >= perf_event::kRecordUserFirst) return;
  if (!builder_) {
    what_runs_.emplace(stream_.events().front().layout);
    BeginBuilder();
  }
  naming::AddNewEvents(stream_.events(), events_, *builder_);
  if (timed.record.type() != perf_event::kRecordSample) {
    what_runs_->Take(timed.record);
    if (timed.event < stream_.events().size()) {
      NoteOwn(timed, stream_.events()[timed.event].layout);
    }
  } else if (TakeOwn(timed)) {
    return;
  }
  builder_->Add(timed.record, timed.event, timed.time);
}

// Follows the processes that this one starts to read files. A fork by another process ends the own
// process of that id, unless the record only describes what ran when recording began.
void WindowMaker::NoteOwn(const perf_data::TimedRecord& timed,
                          const perf_event::RecordLayout& layout) {
  perf_event::Task task;
  const bool begins = timed.record.type() == perf_event::kRecordFork;
  if (!begins && timed.record.type() != perf_event::kRecordExit) return;
  if (!Decode(timed.record, layout, &task) || task.pid != task.tid) return;
  if (begins && own_pids_.contains(task.ppid)) own_pids_.insert(task.pid);
  if (begins && !own_pids_.contains(task.ppid) && timed.time > began_) own_pids_.erase(task.pid);
}

// Counts a sample of this program and returns true; returns false for others. Its own samples need no
// names: to read this program's debug information to name how it reads debug information may take
// longer than all other names, and makes further samples.
bool WindowMaker::TakeOwn(const perf_data::TimedRecord& timed) {
  if (timed.event >= stream_.events().size()) return false;
  const perf_event::RecordLayout& layout = stream_.events()[timed.event].layout;
  perf_event::Sample sample;
  if (!Decode(timed.record, layout, &sample) || !own_pids_.contains(sample.pid)) return false;
  OpenWindow& window = WindowAt(timed.time);
  ++window.left_out.own;
  if (timed.event == 0) {
    window.busy += sample.period;
    ++window.busy_samples;
  }
  return true;
}

WindowMaker::OpenWindow& WindowMaker::WindowAt(uint64_t time) {
  return open_[std::max(time / static_cast<uint64_t>(options_.window.count()), first_open_)];
}

void WindowMaker::BeginBuilder() {
  profile::BuilderOptions keep =
      naming::BuilderOptionsFor(stream_.events(), stream_.features(), options_.naming);
  keep.keep_rows = false;
  const auto set = [&](profile::Dimension dimension, bool is_kept) {
    keep.dimensions[static_cast<size_t>(dimension)] = is_kept;
  };
  set(profile::Dimension::kCgroup, options_.keeps_cgroup);
  keep.name_frames = false;
  keep.on_samples = [this](const Profile&, std::span<const profile::SampleRow> rows,
                           const perf_event::Sample*) {
    waiting_.insert(waiting_.end(), rows.begin(), rows.end());
  };
  named_ = 0;
  builder_.emplace(*names_, std::move(keep));
  events_ = 0;
  naming::AddNewEvents(stream_.events(), events_, *builder_);
  told_losses_ = {};
  is_idle_.clear();
}

// Lets a new builder take over. What runs now is described to it by records, as at the start of a
// file.
void WindowMaker::ReplaceBuilder() {
  CountWaiting();
  for (auto& [index, window] : open_) Flush(window);
  // The losses since the last window was closed belong to the next one.
  TakeLosses(open_[first_open_]);
  builder_.reset();
  names_ = naming::MakeNameStore({}, OfThisMachine(options_.naming));
  // The records of a pass are applied at the end of the next one.
  what_runs_->EndPass();
  what_runs_->EndPass();
  start_.clear();
  what_runs_->Write(&start_);
  BeginBuilder();
  std::span<const std::byte> rest = start_;
  while (rest.size() >= sizeof(perf_event::RecordHeader)) {
    perf_event::RecordHeader header;
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size > rest.size()) break;
    builder_->Add(perf_event::RawRecord(rest.first(header.size)), 0, 0);
    rest = rest.subspan(header.size);
  }
}

bool WindowMaker::IsIdle(const Profile& profile, const profile::SampleRow& row) {
  if (profile[row.thread].pid != 0 || profile[row.thread].tid != 0) return false;
  const auto lines = profile.LinesOf(profile[row.self]);
  if (lines.empty() || lines.back().symbol == profile::kNoSymbol) return false;
  const auto symbol = static_cast<size_t>(lines.back().symbol);
  if (symbol >= is_idle_.size()) is_idle_.resize(symbol + 1, -1);
  if (is_idle_[symbol] < 0) {
    is_idle_[symbol] = IsNameOfIdleLoop(profile.text(profile[lines.back().symbol].name)) ? 1 : 0;
  }
  return is_idle_[symbol] > 0;
}

void WindowMaker::Count(const Profile& profile, std::span<const profile::SampleRow> rows) {
  for (const profile::SampleRow& row : rows) {
    OpenWindow& window = WindowAt(row.time);
    const bool is_idle = IsIdle(profile, row);
    if (row.event == profile::EventId{} && !is_idle) {
      window.busy += row.period;
      window.busy_samples += row.count;
    }
    if (!options_.keeps_idle && is_idle) {
      window.left_out.idle += row.count;
      continue;
    }
    Sum& sum = window.sums[{static_cast<uint32_t>(row.event), static_cast<uint32_t>(row.thread),
                            static_cast<uint32_t>(row.self), static_cast<uint32_t>(row.stack),
                            options_.keeps_cpu ? row.cpu : profile::kNoCpu,
                            static_cast<uint32_t>(row.cgroup)}];
    sum.count += row.count;
    sum.period += row.period;
  }
}

// Moves the sums, which are in ids of the present builder, to the window's profile.
void WindowMaker::Flush(OpenWindow& window) {
  if (!builder_) return;
  std::vector<MergedRow> rows;
  rows.reserve(window.sums.size());
  for (const auto& [key, sum] : window.sums) {
    const auto& [event, thread, self, stack, cpu, cgroup] = key;
    rows.push_back({.row = {.event = profile::EventId{event},
                            .thread = profile::ThreadId{thread},
                            .self = profile::FrameId{self},
                            .stack = profile::StackId{stack},
                            .count = sum.count,
                            .period = sum.period},
                    .cpu = cpu,
                    .cgroup = StringId{cgroup}});
  }
  window.sums.clear();
  // Hash maps have no order; equal recordings give equal windows.
  std::sort(rows.begin(), rows.end(), [](const MergedRow& a, const MergedRow& b) {
    const auto key = [](const MergedRow& row) {
      return std::tuple(row.row.event, row.row.thread, row.row.stack, row.row.self, row.cpu,
                        row.cgroup);
    };
    return key(a) < key(b);
  });
  window.merged.Add(builder_->profile(), rows);
}

void WindowMaker::TakeLosses(OpenWindow& window) {
  if (!builder_) return;
  const profile::Losses& now = builder_->profile().losses;
  AddLosses(Difference(now, told_losses_), &window.merged.losses());
  AddWarnings({now.warnings.begin() + static_cast<ptrdiff_t>(told_losses_.warnings.size()),
               now.warnings.end()},
              &window.merged.losses());
  told_losses_ = now;
}

void WindowMaker::Close(uint64_t index) {
  const auto length = static_cast<uint64_t>(options_.window.count());
  OpenWindow window = std::move(open_[index]);
  open_.erase(index);
  Flush(window);
  TakeLosses(window);
  on_window_({.begin = index * length,
              .end = (index + 1) * length,
              .profile = std::move(window.merged).Take(),
              .left_out = window.left_out,
              .busy = window.busy,
              .busy_samples = window.busy_samples});
}

absl::Status WindowMaker::Finish() {
  const absl::Status status = stream_.Finish();
  CountWaiting();
  if (!open_.empty() && first_open_ == 0) first_open_ = open_.begin()->first;
  while (!open_.empty()) {
    Close(first_open_);
    ++first_open_;
  }
  return status;
}

void WindowMaker::CloseUntil(uint64_t now) {
  const auto length = static_cast<uint64_t>(options_.window.count());
  const uint64_t open = (now - std::min(now, kLateness)) / length;  // windows before it are over
  if (!builder_) return;
  if (first_open_ == 0) first_open_ = open_.empty() ? open : std::min(open, open_.begin()->first);
  for (; first_open_ < open; ++first_open_) Close(first_open_);
  if (builder_began_ == 0) builder_began_ = now;
  const bool is_old = now - builder_began_ >= static_cast<uint64_t>(options_.builder.count());
  if (!is_old && builder_->profile().stacks.size() < options_.most_stacks) return;
  builder_began_ = now;
  ReplaceBuilder();
}

}  // namespace profiler::live

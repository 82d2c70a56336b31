#include "src/record/flight_recorder.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/clock.h"
#include "src/format/perf_data/write/rename_file.h"
#include "src/format/perf_data/write/write_pieces.h"

namespace profiler::record {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

// Records may be published a little after their time, and are then merged in time order. So the
// rings have the moment itself a little later.
constexpr std::chrono::milliseconds kSettling{1};
static_assert(kSettling > std::chrono::nanoseconds(kPublishingMargin));

// Part of the memory that the time after the moment may fill, so that the time before stays.
constexpr double kMostAfter = 0.5;

uint64_t Nanoseconds(steady_clock::duration duration) {
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count(), 0));
}

double Seconds(steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void Add(const OffCpu::Estimates& part, OffCpu::Estimates* sum) {
  for (size_t kind = 0; kind < part.size(); ++kind) {
    (*sum)[kind].switches += part[kind].switches;
    (*sum)[kind].sampled += part[kind].sampled;
    (*sum)[kind].time += part[kind].time;
    (*sum)[kind].squares += part[kind].squares;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FlightRecorder>> FlightRecorder::Create(
    boost::asio::io_context& io, const RecordOptions& options, SessionSetup& setup,
    std::function<absl::Status()> read_rings) {
  const perf_event::RecordLayout layout(setup.plan.sampling.front().written);
  PROFILER_ASSIGN_OR_RETURN(
      std::unique_ptr<FlightBuffer> buffer,
      FlightBuffer::Create(layout, {.time = options.flight->before, .bytes = options.flight->bytes},
                           [proc = options.roots.proc](uint32_t pid) {
                             return access(absl::StrCat(proc, "/", pid).c_str(), F_OK) == 0;
                           }));
  buffer->Observe(setup.what_runs);
  setup.what_runs = {};
  return std::unique_ptr<FlightRecorder>(
      new FlightRecorder(io, options, setup, std::move(read_rings), std::move(buffer)));
}

FlightRecorder::FlightRecorder(boost::asio::io_context& io, const RecordOptions& options,
                               SessionSetup& setup, std::function<absl::Status()> read_rings,
                               std::unique_ptr<FlightBuffer> buffer)
    : options_(options),
      flight_(*options.flight),
      setup_(setup),
      read_rings_(std::move(read_rings)),
      part_(options.output + ".part"),
      io_(io),
      timer_(io),
      buffer_(std::move(buffer)),
      names_(options.output, flight_.most_files, part_),
      began_(steady_clock::now()) {
  buffer_->OnDrop([this](const FlightBuffer::Slice& slice) {
    has_dropped_ = true;
    // A file that is being written gets the slice before it is dropped.
    while (writing_ && writing_->next <= slice.number) Step();
    while (!sums_.empty() && sums_.front().number <= slice.number) sums_.pop_front();
  });
  LookForTriggers();
}

// ---- triggers

void FlightRecorder::LookForTriggers() {
  for (const FlightTrigger& trigger : flight_.triggers) {
    if (trigger.kind == FlightTrigger::Kind::kBlocked) {
      sample_triggers_.push_back(
          {kBlockedId, perf_event::RecordLayout(setup_.plan.off_cpu->written), &trigger});
    } else if (trigger.kind == FlightTrigger::Kind::kEvent) {
      const perf_event::RecordLayout layout(setup_.plan.sampling[trigger.event].written);
      for (const uint64_t id : setup_.IdsOf(trigger.event)) {
        sample_triggers_.push_back({id, layout, &trigger});
      }
    }
  }
  if (sample_triggers_.empty()) return;
  buffer_->OnSample([this](perf_event::RawRecord record) { TakeSample(record); });
}

void FlightRecorder::TakeSample(perf_event::RawRecord record) {
  // Samples begin with the id of their event.
  uint64_t id = 0;
  if (ignores_samples_ || record.body().size() < sizeof(id)) return;
  std::memcpy(&id, record.body().data(), sizeof(id));
  for (const SampleTrigger& candidate : sample_triggers_) {
    if (candidate.id != id) continue;
    const FlightTrigger& trigger = *candidate.trigger;
    perf_event::Sample sample;
    if (!perf_event::Decode(record, candidate.layout, &sample)) continue;
    if (trigger.kind == FlightTrigger::Kind::kEvent) {
      Trigger(trigger, absl::StrFormat("%s (thread %d)", trigger.text, sample.tid), sample.time);
    } else if (sample.period > static_cast<uint64_t>(trigger.time.count())) {
      constexpr double kMillisecond = 1e6;
      Trigger(trigger,
              absl::StrFormat("%s (thread %d, %.4g ms)", trigger.text, sample.tid,
                              static_cast<double>(sample.period) / kMillisecond),
              sample.time);
    }
  }
}

void FlightRecorder::Trigger(const FlightTrigger& trigger, std::string reason,
                             std::optional<uint64_t> time) {
  const Time now = steady_clock::now();
  if (trigger.cools_down) {
    const auto [fired, is_first] = fired_.try_emplace(trigger.text, now);
    if (!is_first && now - fired->second < flight_.cooldown) return;
    fired->second = now;
  }
  const bool is_new = !waiting_;
  Trigger(std::move(reason));
  if (is_new && time) waiting_->time = *time;
}

// ---- keeping

absl::Status FlightRecorder::Append(std::span<const std::span<const std::byte>> pieces) {
  const Time now = steady_clock::now();
  if (buffer_->Append(pieces, now)) KeepSums();
  buffer_->DropBefore(KeepFrom(now));
  // The time after the moment must not replace the time before it.
  if (waiting_ && !writing_ && !waiting_->is_end) {
    const auto after = std::find_if(
        buffer_->slices().begin(), buffer_->slices().end(),
        [this](const FlightBuffer::Slice& slice) { return slice.last > waiting_->when; });
    if (after != buffer_->slices().end() && buffer_->FilledFrom(after->number) > kMostAfter) {
      timer_.expires_at(now);
      AwaitMoment();
    }
  }
  return absl::OkStatus();
}

FlightRecorder::Time FlightRecorder::KeepFrom(Time now) const {
  if (flight_.before.count() == 0) return Time::min();
  Time earliest = now;
  if (waiting_) earliest = std::min(earliest, waiting_->when);
  return earliest - flight_.before;
}

void FlightRecorder::KeepSums() {
  if (setup_.unwinding == nullptr || buffer_->slices().empty()) return;
  UnwindStage& unwinding = *setup_.unwinding;
  Sums sums{.number = buffer_->slices().back().number, .chains = unwinding.quality()};
  if (unwinding.off_cpu() != nullptr) sums.estimates = unwinding.off_cpu()->threads().estimates();
  unwinding.BeginFile();
  AddQuality(sums.chains, &all_chains_);
  sums_.push_back(std::move(sums));
}

ChainQuality FlightRecorder::chains() const {
  ChainQuality sum = all_chains_;
  if (setup_.unwinding != nullptr) AddQuality(setup_.unwinding->quality(), &sum);
  return sum;
}

// ---- moments

FlightRecorder::Moment FlightRecorder::MakeMoment(std::string reason) const {
  return {.reason = std::move(reason),
          .when = steady_clock::now(),
          .time = static_cast<uint64_t>(ReadClock(options_.clock))};
}

void FlightRecorder::Trigger(std::string reason, std::function<void()> done) {
  if (!waiting_) {
    waiting_ = MakeMoment(std::move(reason));
    timer_.expires_at(waiting_->when + std::max<steady_clock::duration>(flight_.after, kSettling));
    if (!writing_) AwaitMoment();
  }
  if (done) waiting_->done.push_back(std::move(done));
}

// Waits for the timer, whose time is set.
void FlightRecorder::AwaitMoment() {
  timer_.async_wait([this](const error_code& failed) {
    if (!failed) WriteMoment();
  });
}

void FlightRecorder::WriteMoment() {
  if (!waiting_ || writing_) return;
  // An error of the pass ends the recording, and Finish writes the file.
  if (!read_rings_().ok()) return;
  Begin();
  ScheduleStep();
}

// ---- writing

void FlightRecorder::Begin() {
  Moment moment = *std::exchange(waiting_, std::nullopt);
  if (flight_.before.count() != 0) buffer_->DropBefore(moment.when - flight_.before);
  KeepSums();
  buffer_->CompleteSlice();
  const auto& slices = buffer_->slices();
  Writing writing{
      .moment = std::move(moment),
      .sums = {},
      .since = has_dropped_ && !slices.empty() ? slices.front().first : began_,
      .until = steady_clock::now(),
      .dropped = {},
      .file = nullptr,
      .tally = RecordTally(perf_event::RecordLayout(setup_.plan.sampling.front().written))};
  if (flight_.before.count() != 0) {
    writing.dropped = buffer_->DroppedSince(writing.moment.when - flight_.before);
  }
  if (!slices.empty()) {
    writing.next = slices.front().number;
    writing.end = slices.back().number + 1;
  }
  for (const Sums& sums : sums_) {
    AddQuality(sums.chains, &writing.sums.chains);
    Add(sums.estimates, &writing.sums.estimates);
  }
  start_.clear();
  buffer_->WriteWhatRan(&start_);
  writing_.emplace(std::move(writing));
  auto file =
      RecordingFile::Begin(options_.in_memory ? options_.output : part_, *setup_.facts, start_);
  if (!file.ok()) return Failed(file.status());
  writing_->file = *std::move(file);
  if (const absl::Status begun = writing_->tally.BeginFile(start_); !begun.ok()) Failed(begun);
}

void FlightRecorder::ScheduleStep() {
  if (!writing_) return;
  boost::asio::post(io_, [this] {
    Step();
    ScheduleStep();
  });
}

// Writes the next slice, or completes the file.
void FlightRecorder::Step() {
  if (!writing_) return;
  if (writing_->next == writing_->end) return Complete();
  const auto& slices = buffer_->slices();
  WriteSlice(slices[writing_->next - slices.front().number]);
}

void FlightRecorder::WriteSlice(const FlightBuffer::Slice& slice) {
  const ringbuf::RingBytes bytes = buffer_->BytesOf(slice);
  absl::Status status = writing_->tally.Take(bytes);
  if (status.ok()) {
    status = writing_->file->Append(
        std::span(bytes.spans).first(bytes.spans[1].empty() ? size_t{1} : bytes.spans.size()));
  }
  if (!status.ok()) return Failed(status);
  ++writing_->next;
}

void FlightRecorder::Complete() {
  Writing& writing = *writing_;
  const perf_data::RecorderFacts::Moment moment{
      .time = writing.moment.time,
      .before = Nanoseconds(writing.moment.when - writing.since),
      .after = Nanoseconds(writing.until - writing.moment.when),
      .dropped = writing.dropped.samples,
      .reason = writing.moment.reason};
  const bool has_estimates = setup_.unwinding != nullptr && setup_.unwinding->off_cpu() != nullptr;
  absl::Status status = writing.file->Finish(
      writing.tally, {.chains = setup_.unwinding == nullptr ? nullptr : &writing.sums.chains,
                      .estimates = has_estimates ? &writing.sums.estimates : nullptr,
                      .moment = &moment});
  if (!status.ok()) return Failed(status);
  absl::StatusOr<std::string> name =
      options_.in_memory ? options_.output : GiveName(writing.moment);
  if (!name.ok()) return Unnamed(name.status());
  path_ = *std::move(name);
  CompleteFile file{.path = path_,
                    .samples = writing.tally.file_samples(),
                    .bytes = writing.file->bytes_written(),
                    .about = About(writing),
                    .writer = writing.file->Release()};
  ++files_;
  bytes_ += file.bytes;
  const Moment done = std::move(writing.moment);
  writing_.reset();
  if (options_.on_file) options_.on_file(std::move(file));
  Done(done);
}

absl::StatusOr<std::string> FlightRecorder::GiveName(const Moment& moment) {
  if (moment.is_end) {
    const std::string& output = options_.output;
    PROFILER_RETURN_IF_ERROR(perf_data::CheckNotBeingWritten(output));
    struct stat old {};
    const bool is_there = stat(output.c_str(), &old) == 0;
    if (is_there && old.st_size != 0) {
      PROFILER_RETURN_IF_ERROR(perf_data::KeepOldFile(output).status());
    }
    PROFILER_RETURN_IF_ERROR(perf_data::RenameInDirectory(part_, output));
    return output;
  }
  auto name = names_.PutAside(std::chrono::system_clock::now());
  if (const absl::Status removed = names_.RemoveOldest(); !removed.ok()) {
    messages_.emplace_back(removed.message());
  }
  return name;
}

// Removes the file that could not be written. Recording goes on, because the next file may succeed.
void FlightRecorder::Failed(const absl::Status& status) {
  if (writing_->file != nullptr && !options_.in_memory) unlink(part_.c_str());
  GiveUp(absl::StrCat("no file for ", writing_->moment.reason, ": ", status.message()));
}

// Leaves a complete file that could not be renamed where it is. The next file renames it again, to
// `part_.old`.
void FlightRecorder::Unnamed(const absl::Status& status) {
  GiveUp(absl::StrCat("the file for ", writing_->moment.reason, " stays ", part_, ": ",
                      status.message(), "; move it before the next one is written"));
}

void FlightRecorder::GiveUp(const std::string& message) {
  const Moment moment = std::move(writing_->moment);
  writing_.reset();
  if (options_.on_failure) {
    options_.on_failure(message);
  } else {
    messages_.push_back(message);
  }
  Done(moment);
}

void FlightRecorder::Done(const Moment& moment) {
  for (const auto& done : moment.done) done();
  if (waiting_) AwaitMoment();
}

std::string FlightRecorder::About(const Writing& writing) const {
  const Moment& moment = writing.moment;
  std::string text =
      absl::StrFormat("%.1f s before %s", Seconds(moment.when - writing.since), moment.reason);
  if (flight_.after.count() != 0) {
    absl::StrAppendFormat(&text, " and %.1f s after it", Seconds(writing.until - moment.when));
  }
  if (writing.dropped.until) {
    absl::StrAppendFormat(&text,
                          "; --flight-size %dM had no room for %d older samples of the %.0f s",
                          flight_.bytes >> 20, writing.dropped.samples, Seconds(flight_.before));
  }
  return text;
}

// ---- the end

absl::Status FlightRecorder::Finish(bool /*with_features*/, std::vector<std::string>* notes) {
  timer_.cancel();
  while (writing_) Step();
  if (waiting_) {
    Begin();
    while (writing_) Step();
  }
  if (flight_.writes_end) {
    waiting_ = MakeMoment("the end");
    waiting_->is_end = true;
    Begin();
    while (writing_) Step();
  }
  if (buffer_->forgotten() > 0) {
    messages_.push_back(absl::StrCat("some samples may lack names: there was no room for ",
                                     buffer_->forgotten(),
                                     " records about processes; pass a larger --flight-size"));
  }
  notes->insert(notes->end(), messages_.begin(), messages_.end());
  messages_.clear();
  return absl::OkStatus();
}

}  // namespace profiler::record

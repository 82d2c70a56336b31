#include "src/fleet/agent/recording_loop.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/machine/procfs/machine.h"
#include "src/record/session.h"

namespace profiler::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

fleet::UnixTime Now() {
  return std::chrono::duration_cast<nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

double Seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Returns a descriptor of the writer's file. It stays valid after the writer is gone.
UniqueFd FileOf(const perf_data::Writer& writer) {
  return UniqueFd(fcntl(writer.readable_file(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

RecordingLoop::RecordingLoop(ringbuf::Kernel& kernel, RecordingLoopOptions options,
                             SharedMetrics& metrics)
    : kernel_(kernel),
      options_(std::move(options)),
      metrics_(metrics),
      sessions_({.first = options_.first_wait, .longest = options_.longest_wait}),
      rate_(options_.rates, options_.budget),
      off_cpu_(options_.recording.off_cpu) {}

absl::Status RecordingLoop::Run() {
  return sessions_.Run(
      [this] {
        absl::Status status = RunSession();
        if (!status.ok()) {
          metrics_.Update([](AgentMetrics& metrics) { ++metrics.failed_sessions; });
        }
        return status;
      },
      "recording", options_.say);
}

record::RecordOptions RecordingLoop::SessionOptions() {
  record::RecordOptions recording = options_.recording;
  frequency_ = rate_.frequency();
  const auto limits = procfs::ReadPerfLimits(recording.roots);
  if (limits.max_sample_rate && *limits.max_sample_rate > 0) {
    frequency_ = std::min(frequency_, static_cast<uint64_t>(*limits.max_sample_rate));
  }
  recording.frequency = frequency_;
  recording.off_cpu = off_cpu_;
  recording.output = "a window";
  recording.in_memory = true;
  recording.handle_signals = false;
  recording.switch_output =
      record::SwitchOutput{.bytes = options_.window_bytes, .time = options_.window};
  recording.on_file = [this](record::CompleteFile file) {
    EndWindow(FileOf(*file.writer), file.samples);
    if (IsOver(options_.recording.roots, session_began_, options_.session, cpus_)) RenewSession();
  };
  recording.on_progress = [this](const record::RecordProgress&) {
    if (options_.on_beat) options_.on_beat();
  };
  return recording;
}

absl::Status RecordingLoop::RunSession() {
  if (auto cpus = procfs::OnlineCpus(options_.recording.roots); cpus.ok()) cpus_ = *cpus;
  PROFILER_ASSIGN_OR_RETURN(const std::unique_ptr<record::RecordSession> session,
                            record::RecordSession::Create(kernel_, SessionOptions()));
  const record::RecordSummary& summary = session->summary();
  SayNotes(summary.notes);
  began_ = session_began_ = Clock::now();
  began_at_ = Now();
  cost_ = options_.read_cost();
  beside_ = options_.read_beside();
  const double gap = has_recorded_ ? Seconds(began_ - ended_) : 0;
  metrics_.Update([&](AgentMetrics& metrics) {
    ++metrics.sessions;
    metrics.gap_seconds += gap;
    metrics.frequency = frequency_;
    metrics.cpus = static_cast<uint32_t>(cpus_.size());
  });
  has_recorded_ = true;
  if (options_.on_session) options_.on_session(frequency_);
  const absl::Status status = sessions_.RunSession(*session);
  ended_ = Clock::now();
  SayNotes(summary.notes);
  if (const perf_data::Writer* const file = session->last_file(); status.ok() && file != nullptr) {
    EndWindow(FileOf(*file), summary.last_file_samples);
  } else if (summary.last_file_samples > 0) {
    metrics_.Update([](AgentMetrics& metrics) { ++metrics.lost_windows; });
  }
  return status;
}

void RecordingLoop::EndWindow(UniqueFd file, uint64_t samples) {
  const Clock::time_point now = Clock::now();
  FinishedRecording recording{.file = std::move(file),
                              .begin = began_at_,
                              .length = now - began_,
                              .frequency = frequency_,
                              .cpus = static_cast<uint32_t>(cpus_.size()),
                              .samples = samples};
  began_ = now;
  began_at_ = Now();
  Measure(recording.length);
  if (samples == 0) return;
  if (!recording.file.valid()) {
    options_.say(absl::StrCat(
        "lost a window: ",
        std::string(ErrnoStatus(errno, "cannot duplicate its file descriptor").message())));
    metrics_.Update([](AgentMetrics& metrics) { ++metrics.lost_windows; });
    return;
  }
  options_.on_recording(std::move(recording));
}

// Passes the cost of a window to the rate control. Ignores short windows at the end of a session,
// because their cost is not representative.
void RecordingLoop::Measure(nanoseconds length) {
  const OwnCost cost = options_.read_cost();
  const nanoseconds cpu = cost.cpu - std::exchange(cost_, cost).cpu;
  const auto beside = options_.read_beside();
  const auto former_beside = std::exchange(beside_, beside);
  const auto share_of = [&](nanoseconds time) {
    return Seconds(time) /
           (Seconds(length) * static_cast<double>(std::max<size_t>(cpus_.size(), 1)));
  };
  const bool is_whole = 2 * length > options_.window;
  metrics_.Update([&](AgentMetrics& metrics) {
    metrics.cpu_seconds = Seconds(cost.cpu);
    metrics.memory = cost.memory;
    metrics.last_window = static_cast<double>(began_at_) / 1e9;
    if (is_whole) metrics.cpu_share = share_of(cpu);
  });
  if (!is_whole || !beside || !former_beside) return;
  const double share = share_of(cpu - (*beside - *former_beside));
  if (rate_.Took(share)) {
    options_.say(
        absl::StrFormat("used %.2f %% of the CPU time; --cpu-budget allows %.2f %%, so the "
                        "frequency is now %d Hz",
                        share * 100, options_.budget * 100, rate_.frequency()));
    RenewSession();
  }
  const auto say_over_budget = [&](const char* consequence) {
    options_.say(
        absl::StrFormat("used %.2f %% of the CPU time at the lowest frequency, %d Hz, more than "
                        "the %.2f %% of --cpu-budget; %s",
                        share * 100, rate_.frequency(), options_.budget * 100, consequence));
  };
  // Stops recording off-CPU times: their cost depends on the number of context switches, which no
  // sampling rate bounds. The next windows show whether that is enough.
  if (rate_.is_over_budget() && std::exchange(off_cpu_, false)) {
    say_over_budget("--off-cpu is now off");
    return RenewSession();
  }
  if (rate_.is_over_budget() && !was_over_budget_) {
    say_over_budget("lower --frequency or lengthen --window");
  }
  was_over_budget_ = rate_.is_over_budget();
}

void RecordingLoop::SayNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (said_.insert(note).second) options_.say(note);
  }
}

}  // namespace profiler::agent

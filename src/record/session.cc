#include "src/record/session.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ringbuf/drain_loop.h"
#include "src/base/file_access.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/machine/target/run_watch.h"
#include "src/record/flight_recorder.h"
#include "src/record/flight_watch.h"
#include "src/record/off_cpu_driver.h"
#include "src/record/priority.h"
#include "src/record/recording_files.h"
#include "src/record/session_setup.h"
#include "src/record/switch_trigger.h"

namespace profiler::record {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kProgressInterval{1};

struct CpuTime {
  std::chrono::microseconds user{0}, system{0};
};

// Measures only one thread, because the recording runs on one thread. Other threads may name its
// files meanwhile.
CpuTime CpuTimeOfThisThread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto microseconds = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return {microseconds(usage.ru_utime), microseconds(usage.ru_stime)};
}

class Session final : public RecordSession {
 public:
  // Throws boost::system::system_error if no descriptor is left for the io_context.
  Session(RecordOptions options, SessionSetup setup, CpuTime before,
          std::unique_ptr<RaisedPriority> priority)
      : options_(std::move(options)),
        setup_(std::move(setup)),
        before_(before),
        priority_(std::move(priority)),
        watch_(io_, [this](target::RunEnd reason) { End(reason); }),
        delay_timer_(io_),
        duration_timer_(io_),
        progress_timer_(io_) {
    summary_.notes = setup_.notes;
    summary_.call_graph = setup_.call_graph;
    summary_.priority = PriorityInWords();
    if (options_.flight) {
      switch_trigger_.emplace(io_, SwitchOutput{.at_signal = true},
                              [this] { flight_->Trigger("SIGUSR2"); });
    } else if (options_.switch_output) {
      switch_trigger_.emplace(io_, *options_.switch_output, [this] { SwitchNow(); });
      std::vector<uint64_t> ids;
      for (const size_t event : options_.switch_output->events) {
        for (const uint64_t id : setup_.IdsOf(event)) ids.push_back(id);
      }
      if (!ids.empty()) switch_samples_.emplace(std::move(ids));
    }
    if (setup_.unwinding != nullptr && setup_.unwinding->off_cpu() != nullptr) {
      off_cpu_.emplace(io_, options_.roots, setup_);
    }
  }

  absl::Status Prepare() {
    if (options_.flight) {
      PROFILER_ASSIGN_OR_RETURN(auto flight, FlightRecorder::Create(io_, options_, setup_, [this] {
                                  return drain_->PassNow();
                                }));
      flight_ = flight.get();
      output_ = std::move(flight);
      PROFILER_RETURN_IF_ERROR(WatchTriggers());
    } else {
      output_ = std::make_unique<RecordingFiles>(options_, setup_);
    }
    PROFILER_ASSIGN_OR_RETURN(
        drain_, ringbuf::DrainLoop::Create(
                    io_, *setup_.events, {options_.tick},
                    [this](std::span<ringbuf::RingPass> rings) { return Write(rings); }));
    pieces_.reserve(2 * setup_.events->rings().size());
    return absl::OkStatus();
  }

  absl::Status Run() override {
    absl::Status status = Record();
    status.Update(EndRecording());
    // From here on, a second signal has its usual effect.
    watch_.Stop();
    priority_ = nullptr;
    status.Update(FinishFiles());
    status.Update(EndCommand());
    Summarize();
    if (!status.ok()) summary_.stop_reason = StopReason::kError;
    return status;
  }

  absl::Status AwaitCommand() override {
    return summary_.command_runs_on ? ReapCommand() : absl::OkStatus();
  }

  perf_data::Writer* last_file() override { return output_->last_file(); }

  std::optional<pid_t> command_pid() const override {
    return setup_.command == nullptr ? std::nullopt : std::optional(setup_.command->pid());
  }

  void RequestStop() override {
    boost::asio::post(io_, [this] { Stop(StopReason::kRequested); });
  }

  const RecordSummary& summary() const override { return summary_; }

 private:
  // ---- while recording

  absl::Status Record() {
    if (options_.handle_signals) {
      if (switch_trigger_) PROFILER_RETURN_IF_ERROR(switch_trigger_->WatchSignal());
      PROFILER_RETURN_IF_ERROR(watch_.WatchSignals());
    }
    PROFILER_RETURN_IF_ERROR(watch_.WatchEnd(setup_.command.get(), options_.targets));
    if (setup_.control != nullptr) PROFILER_RETURN_IF_ERROR(WatchControl());
    drain_->Start();
    if (options_.on_progress) ScheduleProgress();
    if (off_cpu_) {
      off_cpu_->ReadWaitingStacks(*drain_, [this](const absl::Status& status) { Fail(status); });
    }
    began_ = steady_clock::now();
    if (options_.delay.count() > 0) {
      PROFILER_RETURN_IF_ERROR(StartCommand());
      delay_timer_.expires_after(options_.delay);
      delay_timer_.async_wait([this](const error_code& failed) {
        if (failed) return;
        if (const absl::Status begun = BeginSampling(); !begun.ok()) Fail(begun);
      });
    } else {
      PROFILER_RETURN_IF_ERROR(BeginSampling());
      PROFILER_RETURN_IF_ERROR(StartCommand());
    }
    io_.run();
    return failure_;
  }

  absl::Status BeginSampling() {
    if (!setup_.begins_with_exec && !options_.starts_disabled) {
      PROFILER_RETURN_IF_ERROR(EnableSampling());
    }
    began_ = steady_clock::now();
    if (switch_trigger_) switch_trigger_->StartTime();
    if (options_.duration.has_value()) {
      duration_timer_.expires_after(*options_.duration);
      duration_timer_.async_wait([this](const error_code& failed) {
        if (!failed) Stop(StopReason::kDuration);
      });
    }
    return absl::OkStatus();
  }

  absl::Status StartCommand() {
    return setup_.command == nullptr ? absl::OkStatus() : setup_.command->Start();
  }

  absl::Status EnableSampling() {
    if (off_cpu_) off_cpu_->Begin();
    return ForEachSamplingAttr(&ringbuf::EventSet::Enable);
  }

  absl::Status DisableSampling() {
    if (off_cpu_) off_cpu_->Pause();
    return ForEachSamplingAttr(&ringbuf::EventSet::Disable);
  }

  absl::Status ForEachSamplingAttr(absl::Status (ringbuf::EventSet::*operation)(size_t)) {
    for (size_t i = 0; i < setup_.plan.sampling.size(); ++i) {
      PROFILER_RETURN_IF_ERROR((*setup_.events.*operation)(i + 1));
    }
    const std::optional<size_t> switches = off_cpu_ ? off_cpu_->switches_attr() : std::nullopt;
    return switches ? (*setup_.events.*operation)(*switches) : absl::OkStatus();
  }

  // ---- from file to file

  bool IsLargeEnough() const {
    const uint64_t bytes = options_.switch_output ? options_.switch_output->bytes : 0;
    return bytes != 0 && output_->file_bytes() >= bytes && !pieces_.empty() && !stopped_;
  }

  // Reads the rings first: their contents belong to the file that becomes complete.
  void SwitchNow() {
    if (drain_->PassNow().ok()) SwitchFile();
  }

  void SwitchFile() {
    if (stopped_) return;
    if (const absl::Status begun = output_->Next(&summary_.notes); !begun.ok()) Fail(begun);
  }

  // ---- from the rings to the file

  // Writes one pass: counts its records and appends them, unwound or unchanged, as a round.
  absl::Status Write(std::span<ringbuf::RingPass> rings) {
    pieces_.clear();
    absl::Status status;
    if (setup_.unwinding != nullptr) {
      status = setup_.unwinding->Take(rings, is_last_pass_);
      if (off_cpu_) status.Update(off_cpu_->AdaptToSwitches());
      return WriteUnwound(std::move(status));
    }
    for (const ringbuf::RingPass& ring : rings) status.Update(TakePieces(ring.bytes));
    const std::span<const std::byte> added = setup_.tally->AddMappingsOfSharers();
    if (!added.empty()) pieces_.push_back(added);
    return WritePieces(std::move(status));
  }

  absl::Status WriteUnwound(absl::Status status) {
    ringbuf::RingBytes unwound;
    unwound.spans[0] = setup_.unwinding->output();
    status.Update(TakePieces(unwound));
    return WritePieces(std::move(status));
  }

  absl::Status WritePieces(absl::Status status) {
    setup_.tally->EndPass();
    if (!status.ok()) return Ended(std::move(status));
    const uint64_t before = output_->file_bytes();
    status = output_->Append(pieces_);
    write_failed_ = !status.ok();
    // If the disk is full, the file may have grown by all records and lack only the end of the
    // round.
    const bool is_written =
        status.ok() || output_->file_bytes() > before || ErrnoOf(status) == EPIPE;
    is_written ? setup_.tally->Written() : setup_.tally->NotWritten();
    if (options_.max_bytes != 0 && output_->file_bytes() >= options_.max_bytes) {
      Stop(StopReason::kMaxSize);
    }
    const bool has_switch_sample = switch_samples_ && switch_samples_->HaveCome();
    if (status.ok() && (has_switch_sample || IsLargeEnough())) SwitchFile();
    return Ended(ReaderLeft(status) ? absl::OkStatus() : std::move(status));
  }

  absl::Status TakePieces(const ringbuf::RingBytes& bytes) {
    for (const std::span<const std::byte> piece : bytes.spans) {
      if (!piece.empty()) pieces_.push_back(piece);
    }
    if (switch_samples_) switch_samples_->Take(bytes);
    return setup_.tally->Take(bytes);
  }

  // Ends the recording if `status` is an error; returns `status`.
  absl::Status Ended(absl::Status status) {
    if (!status.ok()) Fail(status);
    return status;
  }
  // True if the program that reads the output has closed the pipe. That ends the recording without an error.
  bool ReaderLeft(const absl::Status& status) {
    if (ErrnoOf(status) != EPIPE) return false;
    if (summary_.stop_reason != StopReason::kReaderLeft) {
      summary_.notes.push_back(absl::StrCat(
          "the program that reads ", options_.output == "-" ? "standard output" : options_.output,
          " has closed the pipe, so the recording ends there"));
    }
    stopped_ = false;  // This reason wins over any other that ended the recording at the same time.
    Stop(StopReason::kReaderLeft);
    return true;
  }
  void Fail(const absl::Status& status) {
    failure_.Update(status);
    Stop(StopReason::kError);
  }

  void Stop(StopReason reason) {
    if (stopped_) return;
    stopped_ = true;
    summary_.stop_reason = reason;
    io_.stop();
  }

  void ScheduleProgress() {
    progress_timer_.expires_after(kProgressInterval);
    progress_timer_.async_wait([this](const error_code& failed) {
      if (failed) return;
      options_.on_progress({Elapsed<std::chrono::milliseconds>(), setup_.tally->samples(),
                            setup_.tally->lost(), output_->bytes()});
      ScheduleProgress();
    });
  }

  template <class Duration>
  Duration Elapsed() const {
    return std::chrono::duration_cast<Duration>(steady_clock::now() - began_);
  }

  // ---- triggers of a flight recorder

  absl::Status WatchTriggers() {
    flight_watch_.emplace(io_, options_.roots, options_.flight->triggers,
                          [this](const FlightTrigger& trigger, const std::string& reason) {
                            flight_->Trigger(trigger, reason);
                          });
    std::vector<pid_t> pids;
    if (!options_.targets.system_wide) {
      pids = options_.targets.pids;
      for (const target::Thread& thread : setup_.threads) {
        if (std::find(pids.begin(), pids.end(), thread.pid) == pids.end()) {
          pids.push_back(thread.pid);
        }
      }
    }
    if (setup_.records_command) pids.push_back(setup_.command->pid());
    return flight_watch_->Start(pids, setup_.records_command ? setup_.command->pid() : 0,
                                &summary_.notes);
  }

  // Reports how the command has ended, which needs no right. It stays to be reaped.
  void TakeEndOfCommand() {
    siginfo_t end{};
    const auto pid = static_cast<id_t>(setup_.command->pid());
    if (waitid(P_PID, pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid == 0) return;
    const bool has_exited = end.si_code == CLD_EXITED;
    flight_watch_->TakeEnd({.pid = end.si_pid,
                            .code = has_exited ? end.si_status : 0,
                            .signal = has_exited ? 0 : end.si_status});
  }

  // ---- triggers of the end

  void End(target::RunEnd reason) {
    switch (reason) {
      case target::RunEnd::kSignal:
        summary_.stop_signal = watch_.signal();
        return Stop(StopReason::kSignal);
      case target::RunEnd::kCommandExited:
        if (flight_watch_ && setup_.records_command) TakeEndOfCommand();
        return Stop(StopReason::kCommandExited);
      case target::RunEnd::kTargetsExited:
        return Stop(StopReason::kTargetsExited);
      case target::RunEnd::kRequested:
        return Stop(StopReason::kRequested);
    }
  }

  absl::Status WatchControl() {
    return watch_.WatchControl(
        *setup_.control,
        {.enable = [this] { return Ended(EnableSampling()).ok(); },
         .disable = [this] { return Ended(DisableSampling()).ok(); },
         .snapshot =
             flight_ == nullptr
                 ? target::ControlHandlers::Snapshot()
                 : [this](std::function<void()>
                              done) { flight_->Trigger("the command snapshot", std::move(done)); },
         .on_unknown = [this](std::string_view message) { summary_.notes.emplace_back(message); }});
  }

  // ---- after the recording

  absl::Status EndRecording() {
    summary_.duration = Elapsed<std::chrono::nanoseconds>();
    absl::Status status = ForEachSamplingAttr(&ringbuf::EventSet::Disable);
    drain_->Stop();
    is_last_pass_ = true;
    // The last pass takes the records since the previous pass. After a failed write, these records
    // are lost.
    if (!write_failed_) status.Update(drain_->PassNow());
    if (flight_ != nullptr) flight_->IgnoreSamples();
    if (off_cpu_) status.Update(EndOffCpu());
    if (switch_trigger_) switch_trigger_->Stop();
    if (flight_watch_) flight_watch_->Stop();
    return status;
  }

  absl::Status EndOffCpu() {
    off_cpu_->End();
    absl::Status status;
    if (!write_failed_) {
      pieces_.clear();
      status = WriteUnwound(absl::OkStatus());
    }
    // The records are written by now. This comes last, because naming system calls takes a while.
    summary_.states = off_cpu_->SumStates();
    return status;
  }

  absl::Status FinishFiles() {
    const absl::Status finished = output_->Finish(!write_failed_, &summary_.notes);
    return ReaderLeft(finished) ? absl::OkStatus() : finished;
  }

  // Asks a command that outlives the recording to end. If a signal ended the recording, the command
  // has received that signal too and is not asked. A command that does not end is left to
  // AwaitCommand, so that the work after the recording need not wait for it.
  absl::Status EndCommand() {
    if (setup_.command == nullptr) return absl::OkStatus();
    if (summary_.stop_reason != StopReason::kSignal) setup_.command->AskToEnd();
    constexpr std::chrono::milliseconds kToEnd{500};
    summary_.command_runs_on = !setup_.command->EndsWithin(kToEnd);
    return summary_.command_runs_on ? absl::OkStatus() : ReapCommand();
  }

  absl::Status ReapCommand() {
    PROFILER_ASSIGN_OR_RETURN(summary_.command, setup_.command->Reap());
    summary_.command_runs_on = false;
    return absl::OkStatus();
  }

  void Summarize() {
    const CpuTime now = CpuTimeOfThisThread();
    summary_.samples = setup_.tally->samples();
    summary_.lost = setup_.tally->lost();
    summary_.lost_chunks = setup_.tally->lost_chunks();
    summary_.bytes = output_->bytes();
    summary_.files = output_->count();
    summary_.last_file = output_->path();
    summary_.last_file_samples = setup_.tally->file_samples();
    summary_.user_time = now.user - before_.user;
    summary_.system_time = now.system - before_.system;
    summary_.wakeups = drain_->wakeups();
    if (setup_.unwinding != nullptr) {
      summary_.chains = output_->chains();
      summary_.chain_weights = setup_.unwinding->weights();
      summary_.hurried_passes = setup_.unwinding->hurried();
      const reader::Readers& readers = setup_.unwinding->readers();
      summary_.system_time +=
          std::chrono::duration_cast<std::chrono::microseconds>(readers.CpuTime());
      for (std::string& note : readers.Notes()) summary_.notes.push_back(std::move(note));
    }
    if (setup_.python != nullptr) {
      if (std::string problem = setup_.python->Problem(); problem.empty()) {
        summary_.python = setup_.unwinding->python_counts();
      } else {
        summary_.python_is_refused = true;
        summary_.notes.push_back(std::move(problem));
      }
    }
    FileAccess& files = CurrentFileAccess();
    summary_.system_time += std::chrono::duration_cast<std::chrono::microseconds>(files.CpuTime());
    for (std::string& note : files.TakeNotes()) summary_.notes.push_back(std::move(note));
    summary_.ring_bytes = setup_.events->ring_pages() * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

  const RecordOptions options_;
  boost::asio::io_context io_{1};
  SessionSetup setup_;
  std::unique_ptr<RecordingOutput> output_;
  FlightRecorder* flight_ = nullptr;  // output_, if this is a flight recorder; takes moments
  const CpuTime before_;
  std::unique_ptr<RaisedPriority> priority_;  // reset when the recording ends
  std::unique_ptr<ringbuf::DrainLoop> drain_;
  target::RunWatch watch_;
  boost::asio::steady_timer delay_timer_, duration_timer_, progress_timer_;
  std::optional<SwitchTrigger> switch_trigger_;
  std::optional<SwitchSamples> switch_samples_;  // only with SwitchOutput::events
  std::optional<FlightWatch> flight_watch_;      // only with flight
  std::optional<OffCpuDriver> off_cpu_;          // only with --off-cpu
  steady_clock::time_point began_;
  std::vector<std::span<const std::byte>> pieces_;  // scratch: the pieces of one pass
  bool stopped_ = false;
  bool is_last_pass_ = false;
  bool write_failed_ = false;
  absl::Status failure_;
  RecordSummary summary_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordSession>> RecordSession::Create(ringbuf::Kernel& kernel,
                                                                     RecordOptions options) {
  const CpuTime before = CpuTimeOfThisThread();
  auto priority = std::make_unique<RaisedPriority>();
  if (options.realtime) PROFILER_RETURN_IF_ERROR(priority->SetRealTime(*options.realtime));
  PROFILER_ASSIGN_OR_RETURN(SessionSetup setup, SetUp(kernel, options));
  if (setup.unwinding != nullptr) {
    priority->RaiseNice();
    setup.unwinding->readers().TakeOverPriority();
  }
  perf_data::RecorderFacts recorder{.priority = PriorityInWords()};
  if (setup.plan.unwinds) {
    for (const PlannedEvent& event : setup.plan.sampling) {
      recorder.copied_stack =
          std::max<uint64_t>(recorder.copied_stack, event.attr.sample_stack_user);
    }
  }
  if (recorder != perf_data::RecorderFacts()) {
    perf_data::SetRecorder(recorder, &setup.facts->features);
  }
  std::unique_ptr<Session> session;
  try {
    session = std::make_unique<Session>(std::move(options), std::move(setup), before,
                                        std::move(priority));
  } catch (const boost::system::system_error& error) {
    return ErrnoStatus(error.code().value(), "starting the event loop");
  }
  PROFILER_RETURN_IF_ERROR(session->Prepare());
  return session;
}

}  // namespace profiler::record

#include "src/fleet/agent/agent.h"

#include <malloc.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/atomic_file.h"
#include "src/base/file_access.h"
#include "src/base/mapped_file.h"
#include "src/base/text.h"
#include "src/base/transfer.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/agent/host_labels.h"
#include "src/fleet/agent/moment_loop.h"
#include "src/fleet/agent/own_cost.h"
#include "src/fleet/agent/process_table.h"
#include "src/fleet/agent/recording_loop.h"
#include "src/fleet/agent/service_manager.h"
#include "src/fleet/agent/shared_spool.h"
#include "src/fleet/agent/window_namer.h"
#include "src/fleet/agent/window_queue.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/target/run_watch.h"

namespace profiler::agent {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Number of windows after which all names are discarded and looked up again, because missing files
// may exist by then. If memory is short, this happens sooner (kShortages). To look names up again
// in every window would be too expensive: reading the symbols of the kernel and of compilers takes
// as much CPU time as several windows.
constexpr int kWindowsOfNames = 90;
struct Shortage {
  double used;  // at least this part of the memory limit
  int windows;  // then names are kept for at least this many windows
};
constexpr std::array kShortages = {Shortage{0.85, 12}, Shortage{1.0, 3}};
// If more than this part of the memory limit is still used after names were discarded, a new
// session begins, which frees the memory of the current session. This happens at most once per
// kBetweenSessions.
constexpr double kRenewSession = 0.95;
constexpr auto kBetweenSessions = std::chrono::minutes(5);
// A recorder that is silent for longer hangs; then the agent stops feeding the watchdog. This is
// longer than the longest wait between two sessions.
constexpr auto kLongestSilence = std::chrono::minutes(7);
// Number of bytes copied of each stack. Frames beyond these bytes are taken from earlier samples.
constexpr uint32_t kStackBytes = 16384;
// SIGHUP reads the labels' file again; the others end the agent.
constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr auto kStatusInterval = std::chrono::seconds(10);

double SecondsSince1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

absl::StatusOr<HostLabels> ReadLabels(const AgentOptions& options) {
  HostLabels labels;
  if (!options.labels_file.empty()) {
    PROFILER_RETURN_IF_ERROR(AddLabelsOf(options.labels_file, labels));
  }
  for (const std::string& label : options.labels) {
    PROFILER_RETURN_IF_ERROR(AddLabel(label, labels));
  }
  return labels;
}

// Returns the memory of a flight recorder: for records, a quarter more for processes that are older
// than these, and a quarter more for the rings.
uint64_t MemoryOf(const record::FlightOptions& flight) {
  return flight.bytes + flight.bytes / 4 + flight.bytes / 4;
}

// The thread of a MomentLoop.
class MomentThread {
 public:
  MomentThread(ringbuf::Kernel& kernel, MomentLoopOptions options)
      : loop_(kernel, WithBeginning(std::move(options))) {}
  MomentThread(const MomentThread&) = delete;
  MomentThread& operator=(const MomentThread&) = delete;
  ~MomentThread() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
  }

  // Waits until sampling begins. Errors: those of MomentLoop::Run.
  absl::Status Start() {
    thread_ = std::thread([this] { Begin(loop_.Run()); });
    return begun_.get_future().get();
  }
  MomentLoop& loop() { return loop_; }

 private:
  MomentLoopOptions WithBeginning(MomentLoopOptions options) {
    options.on_session = [this] { Begin(absl::OkStatus()); };
    return options;
  }
  void Begin(const absl::Status& status) {
    if (!std::exchange(has_begun_, true)) begun_.set_value(status);
  }

  bool has_begun_ = false;  // used on the thread only
  std::promise<absl::Status> begun_;
  MomentLoop loop_;
  std::thread thread_;
};

class Agent {
 public:
  Agent(ringbuf::Kernel& kernel, AgentOptions options, fleet::SegmentSpool spool, HostLabels labels)
      : kernel_(kernel),
        options_(std::move(options)),
        service_(ServiceManager::OfEnvironment()),
        memory_limit_(options_.memory_limit +
                      (options_.moments ? MemoryOf(*options_.moments->flight) : 0)),
        machine_{.host = options_.host, .labels = std::move(labels), .version = options_.version},
        spool_(std::move(spool), options_.push.size()),
        processes_(std::make_shared<ProcessTable>()),
        loop_(kernel, LoopOptions(), metrics_),
        watch_(io_, [this](target::RunEnd) { Stop(); }),
        watchdog_(io_),
        status_timer_(io_) {
    metrics_.Update([&](AgentMetrics& metrics) {
      metrics.cpu_budget = options_.budget;
      metrics.memory_limit = memory_limit_;
    });
  }

  absl::Status Run(const std::function<void(uint16_t)>& on_metrics_port) {
    PROFILER_RETURN_IF_ERROR(watch_.WatchSignals(kSignals, [this] { ReadLabelsAgain(); }));
    if (options_.metrics) {
      PROFILER_ASSIGN_OR_RETURN(server_, MetricsServer::Listen(io_, *options_.metrics, [this] {
                                  return PrometheusText(Figures(), options_.version);
                                }));
      if (on_metrics_port) on_metrics_port(server_->port());
    }
    for (const PushTarget& target : options_.push) {
      PROFILER_ASSIGN_OR_RETURN(pushing_.emplace_back(),
                                PushThread::Start(options_.spool, target, spool_,
                                                  [this](std::string_view line) { Say(line); }));
    }
    if (options_.moments) {
      // The processes that read files must outlive all threads, so this thread starts them.
      CurrentFileAccess().Start();
      moments_ = std::make_unique<MomentThread>(kernel_, MomentOptions());
      PROFILER_RETURN_IF_ERROR(moments_->Start());
    }
    if (const auto interval = WatchdogInterval()) FeedWatchdog(*interval);
    ShowStatus();
    absl::Status status;
    {
      // New threads inherit the signal mask, so they block these signals.
      WindowQueue queue([this](FinishedRecording recording) { Keep(std::move(recording)); });
      queue_ = &queue;
      std::thread recorder([this, &status] {
        status = loop_.Run();
        boost::asio::post(io_, [this] { io_.stop(); });
      });
      io_.run();
      recorder.join();
      queue.Finish();
    }
    moments_ = nullptr;
    for (auto& pushing : pushing_) PushThread::End(std::move(pushing));
    pushing_.clear();
    return status;
  }

 private:
  // Completes the options of a recording whose rings are a quarter of `memory`.
  record::RecordOptions Complete(record::RecordOptions recording, uint64_t memory) const {
    recording.targets.system_wide = true;
    recording.call_graph = record::CallGraph::kDwarf;
    recording.stack_bytes = kStackBytes;
    recording.version = options_.version;
    const auto cpus = procfs::OnlineCpus(recording.roots);
    recording.ring_bytes = RingBytesFor(memory, cpus.ok() ? cpus->size() : 1);
    return recording;
  }

  MomentLoopOptions MomentOptions() const {
    MomentLoopOptions moments;
    moments.recording = Complete(*options_.moments, options_.moments->flight->bytes);
    moments.directory = absl::StrCat(options_.spool, "/moments");
    moments.most_files = options_.most_moments;
    moments.naming = options_.naming;
    moments.say = [this](std::string_view line) { Say(line); };
    return moments;
  }

  RecordingLoopOptions LoopOptions() {
    RecordingLoopOptions loop;
    loop.recording = Complete(options_.recording, options_.memory_limit);
    loop.recording.processes = processes_;
    loop.window = options_.window;
    loop.session = options_.session;
    loop.window_bytes = options_.memory_limit / 2;
    loop.rates = options_.rates;
    loop.budget = options_.budget;
    loop.read_beside = [this] {
      return moments_ == nullptr ? std::chrono::nanoseconds(0) : moments_->loop().SteadyCpuTime();
    };
    loop.on_session = [this](uint64_t) {
      Beat();
      if (!std::exchange(is_ready_, true)) service_.Ready();
    };
    loop.on_beat = [this] { Beat(); };
    loop.say = [this](std::string_view line) { Say(line); };
    loop.on_recording = [this](FinishedRecording recording) {
      metrics_.Update([&](AgentMetrics& metrics) { metrics.samples += recording.samples; });
      if (queue_->Add(std::move(recording))) return;
      Lose("two windows already wait for their names");
    };
    return loop;
  }

  // ---- on the naming thread

  void Keep(FinishedRecording recording) {
    const auto began = steady_clock::now();
    MachineFacts machine;
    {
      const std::lock_guard lock(mutex_);
      machine = machine_;
    }
    // The namer is created on this thread, so that the processes that read files for it are
    // children of this thread. It is destroyed before the thread ends.
    if (namer_ == nullptr) namer_ = std::make_unique<WindowNamer>(options_.naming, processes_);
    const auto window = namer_->Name(recording, machine);
    absl::Status status = window.status();
    if (status.ok()) status = spool_.Add(*window);
    if (!status.ok()) return Lose(std::string(status.message()));
    const std::chrono::duration<double> took = steady_clock::now() - began;
    metrics_.Update([&](AgentMetrics& metrics) {
      ++metrics.windows;
      metrics.lost += window->losses.lost_samples;
      metrics.chains += window->losses.chains;
      metrics.cut_chains += window->losses.cut_chains;
      metrics.naming_seconds += took.count();
    });
    GiveMemoryBack();
  }

  void GiveMemoryBack() {
    MappedFile::ForgetAll();
    malloc_trim(0);
    ++windows_of_names_;
    const auto used = [this] {
      return static_cast<double>(ReadOwnCost().memory) /
             static_cast<double>(std::max<uint64_t>(memory_limit_, 1));
    };
    const bool is_short = std::ranges::any_of(kShortages, [&](const Shortage& shortage) {
      return windows_of_names_ >= shortage.windows && used() >= shortage.used;
    });
    if (windows_of_names_ < kWindowsOfNames && !is_short) return;
    windows_of_names_ = 0;
    namer_->Renew();
    malloc_trim(0);
    metrics_.Update([](AgentMetrics& metrics) { ++metrics.name_stores; });
    const auto now = steady_clock::now();
    if (used() < kRenewSession || now - session_renewed_ < kBetweenSessions) return;
    session_renewed_ = now;
    loop_.RenewSession();
  }

  void Lose(std::string_view why) {
    metrics_.Update([](AgentMetrics& metrics) { ++metrics.lost_windows; });
    Say(absl::StrCat("lost a window: ", View(why)));
  }

  // ---- on the main thread

  void Stop() {
    service_.Stopping();
    if (moments_ != nullptr) moments_->loop().Stop();
    loop_.Stop();
  }

  void ReadLabelsAgain() {
    service_.Reloading();
    auto labels = ReadLabels(options_);
    if (labels.ok()) {
      const std::lock_guard lock(mutex_);
      machine_.labels = *std::move(labels);
    } else {
      Say(absl::StrCat(std::string(labels.status().message()), "; the labels are unchanged"));
    }
    service_.Ready();
  }

  void FeedWatchdog(milliseconds interval) {
    watchdog_.expires_after(interval);
    watchdog_.async_wait([this, interval](const error_code& failed) {
      if (failed) return;
      const auto silence = steady_clock::now().time_since_epoch().count() - beat_.load();
      if (steady_clock::duration(silence) < kLongestSilence) service_.StillAlive();
      FeedWatchdog(interval);
    });
  }

  void ShowStatus() {
    const AgentMetrics metrics = Figures();
    WriteMetrics(metrics);
    if (service_.is_there()) {
      service_.Status(absl::StrFormat(
          "%d Hz, %d samples in %d windows, %d segments of %.1f MB; %.2f %% of the CPU time, %d MB",
          metrics.frequency, metrics.samples, metrics.windows, metrics.segments,
          static_cast<double>(metrics.spool_bytes) / 1e6, metrics.cpu_share * 100,
          metrics.memory >> 20));
    }
    status_timer_.expires_after(kStatusInterval);
    status_timer_.async_wait([this](const error_code& failed) {
      if (!failed) ShowStatus();
    });
  }

  // Writes the metrics to a file for a collector, and for `profiler push`, which serves them. On a
  // full disk the old file stays, with its old timestamp; the spool reports the disk.
  void WriteMetrics(const AgentMetrics& metrics) const {
    auto file = AtomicFile::Create(absl::StrCat(options_.spool, "/", fleet::kMetricsFile));
    if (!file.ok()) return;
    const std::string text = PrometheusText(metrics, options_.version);
    if (WriteFully(file->fd(), std::as_bytes(std::span(text))) != 0) return;
    file->Commit({.sync = false}).IgnoreError();
  }

  // ---- on any thread

  AgentMetrics Figures() const {
    AgentMetrics metrics = metrics_.Get();
    const OwnCost cost = ReadOwnCost();
    metrics.cpu_seconds = std::chrono::duration<double>(cost.cpu).count();
    metrics.memory = cost.memory;
    metrics.resident = cost.resident;
    metrics.written = SecondsSince1970();
    spool_.Describe(metrics);
    for (const auto& pushing : pushing_) metrics.pushed.push_back(pushing->Describe());
    return metrics;
  }

  void Beat() { beat_ = steady_clock::now().time_since_epoch().count(); }

  void Say(std::string_view line) const {
    const std::lock_guard lock(say_mutex_);
    options_.say(line);
  }

  ringbuf::Kernel& kernel_;
  const AgentOptions options_;
  const ServiceManager service_;
  const uint64_t memory_limit_;  // with the flight recorder's
  std::mutex mutex_;
  MachineFacts machine_;  // under mutex_
  SharedMetrics metrics_;
  SharedSpool spool_;
  const std::shared_ptr<ProcessTable> processes_;
  RecordingLoop loop_;
  WindowQueue* queue_ = nullptr;
  bool is_ready_ = false;  // used on the recorder's thread only
  std::atomic<steady_clock::rep> beat_ = steady_clock::now().time_since_epoch().count();
  mutable std::mutex say_mutex_;

  // Used on the naming thread only:
  std::unique_ptr<WindowNamer> namer_;
  int windows_of_names_ = 0;
  steady_clock::time_point session_renewed_;

  boost::asio::io_context io_{1};
  target::RunWatch watch_;
  boost::asio::steady_timer watchdog_, status_timer_;
  std::unique_ptr<MomentThread> moments_;  // null: no flight recorder
  std::vector<std::unique_ptr<PushThread>> pushing_;
  std::unique_ptr<MetricsServer> server_;
};

}  // namespace

size_t RingBytesFor(uint64_t memory_limit, size_t cpus) {
  constexpr uint64_t kLeast = 128 << 10, kMost = 1 << 20;
  const uint64_t each = memory_limit / 4 / std::max<size_t>(cpus, 1);
  return std::bit_floor(std::clamp(each, kLeast, kMost));
}

absl::Status RunAgent(ringbuf::Kernel& kernel, AgentOptions options,
                      const std::function<void(uint16_t)>& on_metrics_port) {
  // Limits the number of heaps. By default each thread gets its own heap, and heaps return little
  // memory to the system.
  mallopt(M_ARENA_MAX, 2);
  PROFILER_ASSIGN_OR_RETURN(HostLabels labels, ReadLabels(options));
  PROFILER_ASSIGN_OR_RETURN(
      fleet::SegmentSpool spool,
      fleet::SegmentSpool::Open(options.spool, {.bytes = options.spool_bytes}));
  try {
    Agent agent(kernel, std::move(options), std::move(spool), std::move(labels));
    return agent.Run(on_metrics_port);
  } catch (const boost::system::system_error& error) {
    return ErrnoStatus(error.code().value(), "starting the event loop");
  }
}

}  // namespace profiler::agent

#include "src/live/live_recording.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/pipe.h"
#include "src/live/byte_queue.h"
#include "src/machine/target/targets.h"
#include "src/profile/naming/naming_queue.h"
#include "src/record/session.h"

namespace profiler::live {
namespace {

using std::chrono::steady_clock;

void Signal(const UniqueFd& event) {
  const uint64_t one = 1;
  (void)!write(event.get(), &one, sizeof(one));
}

class Running final : public LiveRecording {
 public:
  Running(ringbuf::Kernel& kernel, LiveOptions options)
      : kernel_(kernel),
        options_(std::move(options)),
        ended_(eventfd(0, EFD_CLOEXEC)),
        written_(eventfd(0, EFD_CLOEXEC)),
        history_(options_.history),
        queue_(options_.most_waiting) {}

  ~Running() override { (void)End(Waiting::kIsDropped); }

  absl::Status Begin() {
    auto pipe = MakePipe();
    if (!ended_.valid() || !written_.valid() || !pipe.ok()) {
      return absl::ResourceExhaustedError("too many open files; raise the limit (ulimit -n)");
    }
    pipe_ = *std::move(pipe);
    fcntl(pipe_.read_end.get(), F_SETFL, O_NONBLOCK);
    constexpr int kPipeBytes = 1 << 20;
    fcntl(pipe_.write_end.get(), F_SETPIPE_SZ, kPipeBytes);
    std::promise<absl::Status> begun;
    std::future<absl::Status> outcome = begun.get_future();
    pump_ = std::thread([this] { Pump(); });
    // The session's child processes end with the thread that started them, so the thread that
    // makes the session also runs it.
    recorder_ = std::thread([this, begun = std::move(begun)]() mutable { Record(begun); });
    absl::Status status = outcome.get();
    if (status.ok()) {
      namer_ = std::thread([this] { Name(); });
    } else {
      (void)End(Waiting::kIsDropped);
    }
    return status;
  }

  History& history() override { return history_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  const std::string& call_graph() const override { return call_graph_; }
  bool is_naming() const override { return is_naming_ && history_.added() == 0; }
  int ended_fd() const override { return ended_.get(); }
  LiveOutcome Stop(Waiting waiting) override { return End(waiting); }

 private:
  // ---- on the recorder's thread

  record::RecordOptions SessionOptions() {
    record::RecordOptions recording = options_.recording;
    recording.output = absl::StrCat("/proc/self/fd/", pipe_.write_end.get());
    recording.handle_signals = false;
    return recording;
  }

  void Record(std::promise<absl::Status>& begun) {
    auto session = record::RecordSession::Create(kernel_, SessionOptions());
    if (!session.ok()) {
      outcome_.status = session.status();
      Signal(written_);
      begun.set_value(session.status());
      return;
    }
    notes_ = (*session)->summary().notes;
    call_graph_ = (*session)->summary().call_graph;
    NoteHelpers((*session)->command_pid());
    Publish(session->get());
    begun.set_value(absl::OkStatus());
    outcome_.status = (*session)->Run();
    Publish(nullptr);
    Signal(written_);
    outcome_.status.Update((*session)->AwaitCommand());
    outcome_.summary = (*session)->summary();
    Signal(ended_);
  }

  // Adds the running helpers to the own processes. Forks are recorded from now on, so the namer
  // learns of later helpers from the stream. The command waits to start, and has no children yet.
  void NoteHelpers(std::optional<pid_t> command) {
    std::vector<uint32_t>& own = options_.windows.own_pids;
    const auto self = static_cast<uint32_t>(getpid());
    if (std::find(own.begin(), own.end(), self) == own.end()) return;
    // Without /proc, the helpers are shown.
    const auto helpers = target::DescendantsOf(options_.recording.roots, {getpid()});
    if (!helpers.ok()) return;
    for (const pid_t helper : *helpers) {
      if (helper != command) own.push_back(static_cast<uint32_t>(helper));
    }
  }

  // ---- on the pump's thread

  // Moves the stream from the pipe to the queue, so that the recorder need not wait while names are
  // looked up. Child processes may have copies of the pipe's write end, so its end is not the end
  // of the stream.
  void Pump() {
    std::vector<std::byte> bytes(size_t{1} << 20);
    bool is_written = false;
    for (;;) {
      const ssize_t size = read(pipe_.read_end.get(), bytes.data(), bytes.size());
      if (size > 0) {
        const std::span<const std::byte> piece(bytes.data(), static_cast<size_t>(size));
        queue_.Push({&piece, 1});
        continue;
      }
      if (is_written) break;
      pollfd sources[] = {{.fd = pipe_.read_end.get(), .events = POLLIN},
                          {.fd = written_.get(), .events = POLLIN}};
      poll(sources, 2, -1);
      // Reads the records that were written before the signal.
      is_written = sources[1].revents != 0;
    }
    queue_.Close();
  }

  // ---- on the namer's thread

  // Makes windows of the stream. A window is closed only if no bytes wait, because they may belong
  // to it.
  void Name() {
    naming::LowerPriority();
    WindowMaker maker(options_.windows, [this](Window window) { history_.Add(std::move(window)); });
    std::vector<std::byte> bytes;
    const auto tick =
        std::min<std::chrono::nanoseconds>(options_.windows.window, std::chrono::milliseconds(100));
    while (queue_.Pop(&bytes, steady_clock::now() + tick)) {
      if (!bytes.empty()) is_naming_ = true;
      // Many bytes may wait, so a drop is looked for between small pieces.
      constexpr size_t kPiece = size_t{256} << 10;
      for (std::span<const std::byte> rest = bytes; !rest.empty() && !is_dropped_;) {
        const size_t size = std::min(rest.size(), kPiece);
        maker.Take(rest.first(size));
        rest = rest.subspan(size);
      }
      if (is_dropped_) return;
      if (queue_.empty()) maker.CloseUntil(MonotonicNow());
    }
    // The stream's own error would repeat that of the session.
    maker.Finish().IgnoreError();
  }

  // ---- on any thread

  void Publish(record::RecordSession* session) {
    const std::lock_guard lock(mutex_);
    session_ = session;
    if (session_ != nullptr && is_stopped_) session_->RequestStop();
  }

  LiveOutcome End(Waiting waiting) {
    if (waiting == Waiting::kIsDropped) is_dropped_ = true;
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      if (session_ != nullptr) session_->RequestStop();
    }
    for (std::thread* thread : {&recorder_, &pump_, &namer_}) {
      if (thread->joinable()) thread->join();
    }
    return outcome_;
  }

  ringbuf::Kernel& kernel_;
  LiveOptions options_;             // complete before Begin starts the namer
  const UniqueFd ended_, written_;  // events: the recording has ended; the stream is complete
  Pipe pipe_;
  History history_;
  ByteQueue queue_;
  std::atomic<bool> is_naming_ = false;
  std::atomic<bool> is_dropped_ = false;  // the namer ends without naming what waits
  // Set before Begin returns.
  std::vector<std::string> notes_;
  std::string call_graph_;
  std::mutex mutex_;
  // mutex_ guards the two members below.
  record::RecordSession* session_ = nullptr;
  bool is_stopped_ = false;
  LiveOutcome outcome_;  // set by the recorder
  std::thread recorder_, pump_, namer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LiveRecording>> LiveRecording::Start(ringbuf::Kernel& kernel,
                                                                    LiveOptions options) {
  auto running = std::make_unique<Running>(kernel, std::move(options));
  PROFILER_RETURN_IF_ERROR(running->Begin());
  return running;
}

}  // namespace profiler::live

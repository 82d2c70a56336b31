#include "symbolize/files/debug_fetch.h"

#include <elf.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {
namespace {

using Clock = std::chrono::steady_clock;
using ProblemKind = FetchProblem::Kind;
using BuildId = std::vector<std::byte>;

// A waiting source calls KeepGoing about once per second.
constexpr std::chrono::milliseconds kSourceTick{1'100};
constexpr std::chrono::milliseconds kMonitorTick{100};

// Returns false for a truncated download: contents of sections, or the section table at the end,
// are missing.
bool IsWhole(const ElfImage& elf) {
  const auto is_there = [](const ElfSection& section) {
    return section.type == SHT_NOBITS || section.type == SHT_NULL ||
           section.contents.size() == section.size;
  };
  // Section names are in the last section.
  const auto is_named = [](const ElfSection& section) { return !section.name.empty(); };
  const std::span<const ElfSection> sections = elf.sections();
  return std::any_of(sections.begin(), sections.end(), is_named) &&
         std::all_of(sections.begin(), sections.end(), is_there);
}

// The files of one image, and the state of their transfer.
struct Job {
  // Returns the bytes that count against the budget. A file reserves its full size as soon as the
  // size is known.
  uint64_t claim() const { return ended || stopped ? received : std::max(received, size); }

  MissingFiles missing;
  bool started = false;
  bool ended = false;
  uint64_t received = 0;  // bytes of the current file so far
  uint64_t size = 0;
  std::optional<ProblemKind> stopped;  // reason to stop the job, if it must stop
  bool gave_up = false;                // true if the job has stopped for that reason
  std::optional<FetchProblem> problem;
  FetchedFiles files;
};

// State that all threads share. It lives until the last thread ends.
struct Shared {
  std::shared_ptr<DebugFileSource> source;
  std::vector<std::string> debug_directories;
  uint64_t most_bytes = 0;

  std::mutex mutex;  // guards all members below
  std::condition_variable ended;
  std::deque<Job> jobs;
  size_t next = 0;
  uint64_t received = 0;  // bytes of all complete files
};

// The work of one thread.
class Fetcher {
 public:
  explicit Fetcher(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  void Run() {
    while (Job* const job = TakeJob()) {
      FetchImage(*job);
      const std::lock_guard lock(shared_->mutex);
      job->ended = true;
      shared_->ended.notify_all();
    }
  }

 private:
  struct Opened {
    MappedFile file;
    ElfImage elf;
    std::string path;
  };

  Job* TakeJob() {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->next == shared_->jobs.size()) return nullptr;
    Job& job = shared_->jobs[shared_->next++];
    job.started = true;
    return &job;
  }

  void FetchImage(Job& job);
  std::optional<Opened> FetchFile(Job& job, FileKind kind, const BuildId& build_id);
  absl::StatusOr<Opened> Check(const SourcedFile& file, const BuildId& build_id) const;
  bool MayGoOn(Job& job, uint64_t received, uint64_t size);
  void Complete(Job& job, FileKind kind, const BuildId& build_id, const std::string& path);
  void Fail(Job& job, ProblemKind kind, std::string detail);

  const std::shared_ptr<Shared> shared_;
};

void Fetcher::FetchImage(Job& job) {
  const MissingFiles& missing = job.missing;
  if (missing.executable) {
    const auto executable = FetchFile(job, FileKind::kExecutable, missing.build_id);
    if (!executable || dwarf::HasDebugInfo(executable->elf)) return;
  }
  if (!missing.debug_info) return;
  const auto debug = FetchFile(job, FileKind::kDebugInfo, missing.build_id);
  if (!debug) return;
  dwarf::DebugInfoFiles files;
  files.debug = &debug->elf;
  files.debug_path = debug->path;
  files.debug_directories = shared_->debug_directories;
  files.follow_names = debug->file.IsOfUserOrRoot();
  const BuildId alternate = dwarf::MissingAlternate(files);
  if (!alternate.empty()) FetchFile(job, FileKind::kDebugInfo, alternate);
}

std::optional<Fetcher::Opened> Fetcher::FetchFile(Job& job, FileKind kind,
                                                  const BuildId& build_id) {
  if (!MayGoOn(job, 0, 0)) return std::nullopt;
  const absl::StatusOr<SourcedFile> file = shared_->source->Fetch(
      kind, build_id,
      [&](uint64_t received, uint64_t size) { return MayGoOn(job, received, size); });
  if (!file.ok()) {
    const absl::string_view message = file.status().message();
    const bool told = absl::IsNotFound(file.status()) || absl::IsCancelled(file.status());
    if (!told) Fail(job, ProblemKind::kFailed, std::string(message));
    return std::nullopt;
  }
  absl::StatusOr<Opened> opened = Check(*file, build_id);
  if (!opened.ok()) {
    shared_->source->Forget(kind, build_id);
    Fail(job, ProblemKind::kWrongFile, std::string(opened.status().message()));
    return std::nullopt;
  }
  // A small file may arrive before the source reported its size.
  const uint64_t size = opened->file.bytes().size();
  if (!file->from.empty() && !MayGoOn(job, size, size)) {
    shared_->source->Forget(kind, build_id);
    return std::nullopt;
  }
  Complete(job, kind, build_id, file->path);
  return *std::move(opened);
}

absl::StatusOr<Fetcher::Opened> Fetcher::Check(const SourcedFile& file,
                                               const BuildId& build_id) const {
  const std::string from = file.from.empty() ? file.path : file.from;
  Opened opened;
  opened.path = file.path;
  PROFILER_ASSIGN_OR_RETURN(opened.file, MappedFile::Open(file.path));
  absl::StatusOr<ElfImage> elf = ElfImage::Parse(opened.file.bytes());
  if (!elf.ok()) return absl::DataLossError(absl::StrCat(from, ": ", elf.status().message()));
  opened.elf = *std::move(elf);
  if (!IsWhole(opened.elf)) return absl::DataLossError(absl::StrCat(from, " is cut off"));
  const auto id = opened.elf.build_id();
  if (SameBuildId(id, build_id)) return opened;
  return absl::DataLossError(
      absl::StrCat(from, " has ", id.empty() ? "no build-id" : "build-id " + HexOf(id)));
}

// Updates the job. Returns false if it is stopped or if its bytes exceed the common limit.
bool Fetcher::MayGoOn(Job& job, uint64_t received, uint64_t size) {
  const std::lock_guard lock(shared_->mutex);
  job.received = received;
  job.size = size;
  uint64_t others = shared_->received;
  for (const Job& other : shared_->jobs) {
    if (&other != &job) others += other.claim();
  }
  const uint64_t left = shared_->most_bytes - std::min(others, shared_->most_bytes);
  if (!job.stopped && std::max(received, size) > left) job.stopped = ProblemKind::kOutOfBytes;
  job.gave_up = job.stopped.has_value();
  return !job.gave_up;
}

void Fetcher::Complete(Job& job, FileKind kind, const BuildId& build_id, const std::string& path) {
  const std::lock_guard lock(shared_->mutex);
  shared_->received += std::exchange(job.received, 0);
  job.size = 0;
  job.files.Add(kind, build_id, path);
}

void Fetcher::Fail(Job& job, ProblemKind kind, std::string detail) {
  const std::lock_guard lock(shared_->mutex);
  job.problem = FetchProblem{kind, job.missing.path, job.missing.build_id, std::move(detail)};
}

// Starts up to `wanted` threads. Returns false if none could be started.
bool StartThreads(const std::shared_ptr<Shared>& shared, size_t wanted,
                  std::vector<std::thread>* threads) {
  try {
    while (threads->size() < wanted) {
      threads->emplace_back([fetcher = Fetcher(shared)]() mutable { fetcher.Run(); });
    }
  } catch (const std::system_error&) {  // the limit on processes
  }
  return !threads->empty();
}

class Supervisor {
 public:
  Supervisor(Shared& shared, const FetchLimits& limits, const FetchMonitor& monitor)
      : shared_(shared),
        monitor_(monitor),
        began_(Clock::now()),
        over_(began_ + limits.time),
        // Stops early, so that a source has time to clean up its cache.
        stop_(over_ - std::min(kSourceTick, limits.time / 4)) {}

  // Waits until all jobs have ended or were abandoned. Returns true if all have ended.
  bool Wait();

 private:
  FetchProgress Progress() const;
  void StopAll(ProblemKind why);
  template <class Predicate>
  bool All(Predicate predicate) const {
    return std::all_of(shared_.jobs.begin(), shared_.jobs.end(), predicate);
  }
  Job* Oldest() const;

  Shared& shared_;
  const FetchMonitor& monitor_;
  const Clock::time_point began_;
  const Clock::time_point over_;
  const Clock::time_point stop_;
};

bool Supervisor::Wait() {
  std::unique_lock lock(shared_.mutex);
  const auto ended = [](const Job& job) { return job.ended; };
  // Deadline for stopped jobs that have not ended.
  std::optional<Clock::time_point> patience;
  while (!All(ended)) {
    const Clock::time_point now = Clock::now();
    if (now >= stop_) StopAll(ProblemKind::kOutOfTime);
    if (now >= over_) return false;
    if (!patience && All([](const Job& job) { return job.ended || job.stopped; })) {
      patience = now + kSourceTick;
    }
    if (patience && now >= *patience) return false;
    Clock::time_point wake = std::min(now + kMonitorTick, now < stop_ ? stop_ : over_);
    if (patience) wake = std::min(wake, *patience);
    shared_.ended.wait_until(lock, wake);
    if (!monitor_) continue;
    const FetchProgress progress = Progress();
    lock.unlock();
    const bool skip = monitor_(progress);
    lock.lock();
    Job* const oldest = Oldest();
    if (skip && oldest != nullptr) oldest->stopped = ProblemKind::kSkipped;
  }
  return true;
}

Job* Supervisor::Oldest() const {
  const auto it = std::find_if(shared_.jobs.begin(), shared_.jobs.end(), [](const Job& job) {
    return job.started && !job.ended && !job.stopped;
  });
  return it == shared_.jobs.end() ? nullptr : &*it;
}

FetchProgress Supervisor::Progress() const {
  FetchProgress progress;
  progress.images = shared_.jobs.size();
  progress.received = shared_.received;
  progress.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
  for (const Job& job : shared_.jobs) {
    progress.received += job.received;
    if (job.ended || job.stopped) ++progress.done;
  }
  if (const Job* const oldest = Oldest()) {
    progress.path = oldest->missing.path;
    progress.its_received = oldest->received;
    progress.its_size = oldest->size;
  }
  return progress;
}

void Supervisor::StopAll(ProblemKind why) {
  for (Job& job : shared_.jobs) {
    if (!job.ended && !job.stopped) job.stopped = why;
  }
}

}  // namespace

FetchOutcome FetchFiles(std::shared_ptr<DebugFileSource> source, std::vector<MissingFiles> missing,
                        const std::vector<std::string>& debug_directories,
                        const FetchLimits& limits, const FetchMonitor& monitor) {
  const auto shared = std::make_shared<Shared>();
  shared->source = std::move(source);
  shared->debug_directories = debug_directories;
  shared->most_bytes = limits.bytes;
  for (MissingFiles& files : missing) shared->jobs.emplace_back().missing = std::move(files);
  std::vector<std::thread> threads;
  FetchOutcome outcome;
  if (!StartThreads(shared, std::min(shared->jobs.size(), limits.at_once), &threads)) {
    for (const Job& job : shared->jobs) {
      outcome.problems.push_back({ProblemKind::kFailed, job.missing.path, job.missing.build_id,
                                  "no thread could be started"});
    }
    return outcome;
  }
  const bool all_ended = Supervisor(*shared, limits, monitor).Wait();
  for (std::thread& thread : threads) all_ended ? thread.join() : thread.detach();

  const std::lock_guard lock(shared->mutex);
  for (Job& job : shared->jobs) {
    outcome.files.Merge(job.files);
    if (job.problem) {
      outcome.problems.push_back(*job.problem);
    } else if (job.stopped && (job.gave_up || !job.ended)) {
      outcome.problems.push_back({*job.stopped, job.missing.path, job.missing.build_id, ""});
    }
  }
  return outcome;
}

}  // namespace profiler::symbolize

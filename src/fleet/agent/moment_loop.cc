#include "src/fleet/agent/moment_loop.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/own_directory.h"
#include "src/machine/procfs/machine.h"
#include "src/record/session.h"
#include "symbolize/kept_files.h"

namespace profiler::agent {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr char kName[] = "perf.data.";

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

enum class Which : uint8_t { kComplete, kUnfinished };

// Returns the names of the files of the flight recorder, the oldest first: of complete files, or of
// the unfinished file that a killed agent left.
std::vector<std::string> NamesIn(const std::string& directory, Which which) {
  std::vector<std::string> names;
  DIR* const opened = opendir(directory.c_str());
  if (opened == nullptr) return names;
  while (const dirent* const entry = readdir(opened)) {
    std::string_view rest = entry->d_name;
    if (!rest.starts_with(kName)) continue;
    rest.remove_prefix(sizeof(kName) - 1);
    const bool is_complete = std::all_of(rest.begin(), rest.end(), IsDigit);
    const bool is_unfinished = rest.starts_with("part");
    if (which == Which::kComplete ? is_complete : is_unfinished) names.emplace_back(entry->d_name);
  }
  closedir(opened);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

MomentLoop::MomentLoop(ringbuf::Kernel& kernel, MomentLoopOptions options)
    : kernel_(kernel), options_(std::move(options)), sessions_(options_.waits) {}

absl::Status MomentLoop::Run() {
  PROFILER_RETURN_IF_ERROR(OpenOwnDirectory(options_.directory, IfMissing::kMake).status());
  for (const std::string& name : NamesIn(options_.directory, Which::kUnfinished)) {
    unlink(absl::StrCat(options_.directory, "/", name).c_str());
  }
  {
    const std::lock_guard lock(mutex_);
    clockid_t clock{};
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0) clock_ = clock;
  }
  absl::Status status =
      sessions_.Run([this] { return RunSession(); }, "the flight recorder", options_.say);
  const std::lock_guard lock(mutex_);
  if (clock_) cpu_time_ = nanoseconds(ReadClock(*std::exchange(clock_, std::nullopt)));
  return status;
}

absl::Status MomentLoop::RunSession() {
  if (auto cpus = procfs::OnlineCpus(options_.recording.roots); cpus.ok()) cpus_ = *cpus;
  began_ = steady_clock::now();
  naming::NamingOptions naming = options_.naming;
  naming.is_this_machine = true;
  naming.files_name = symbolize::FilesName::kOthers;
  const auto kept = std::make_shared<symbolize::KeptFiles>();
  naming.kept = kept;
  naming::NamingQueue queue(naming.inlines ? naming::Embedding::kLines : naming::Embedding::kNames,
                            naming);

  record::RecordOptions recording = options_.recording;
  recording.output = absl::StrCat(options_.directory, "/perf.data");
  recording.handle_signals = false;
  recording.kept = kept;
  // RemoveAllBut also counts the files of earlier sessions.
  recording.flight->most_files = 0;
  recording.on_file = [this, &queue](record::CompleteFile file) { Take(std::move(file), queue); };
  recording.on_failure = [this](const std::string& message) { options_.say(message); };
  recording.on_progress = [this](const record::RecordProgress&) {
    if (IsOver(options_.recording.roots, began_, options_.session, cpus_)) sessions_.RenewSession();
  };
  PROFILER_ASSIGN_OR_RETURN(const std::unique_ptr<record::RecordSession> session,
                            record::RecordSession::Create(kernel_, std::move(recording)));
  SayOnce(session->summary().notes);
  ShowQueue(&queue);
  if (options_.on_session) options_.on_session();
  const absl::Status status = sessions_.RunSession(*session);
  SayOnce(session->summary().notes);
  // The service manager waits only half a minute for the end of the agent.
  constexpr std::chrono::seconds kForNames{10};
  const auto until = steady_clock::now() + kForNames;
  queue.Finish([until](std::string_view, size_t, size_t) { return steady_clock::now() < until; });
  SayOnce(queue.warnings());
  ShowQueue(nullptr);
  return status;
}

void MomentLoop::Take(record::CompleteFile file, naming::NamingQueue& queue) {
  options_.say(absl::StrCat("wrote ", file.path, ": ", file.samples, " samples, ", file.about));
  RemoveAllBut(options_.most_files);
  queue.Add({std::move(file.path), file.samples, std::move(file.writer)});
  const std::lock_guard lock(mutex_);
  has_written_ = true;
}

// Removes the oldest files.
void MomentLoop::RemoveAllBut(size_t most) {
  const std::vector<std::string> names = NamesIn(options_.directory, Which::kComplete);
  for (size_t i = 0; i + most < names.size(); ++i) {
    const std::string path = absl::StrCat(options_.directory, "/", names[i]);
    if (unlink(path.c_str()) == 0 || errno == ENOENT) continue;
    options_.say(std::string(ErrnoStatus(errno, absl::StrCat("cannot remove ", path)).message()));
  }
}

void MomentLoop::SayOnce(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (said_.insert(line).second) options_.say(line);
  }
}

void MomentLoop::ShowQueue(naming::NamingQueue* queue) {
  const std::lock_guard lock(mutex_);
  queue_ = queue;
}

std::optional<nanoseconds> MomentLoop::SteadyCpuTime() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_written_, false)) return std::nullopt;
  if (queue_ != nullptr && queue_->unnamed() > 0) return std::nullopt;
  return clock_ ? nanoseconds(ReadClock(*clock_)) : cpu_time_;
}

}  // namespace profiler::agent

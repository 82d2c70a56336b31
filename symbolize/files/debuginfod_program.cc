// debuginfod-find prints the path of the file, and with -v the result:
//
//   stdout  /home/user/.cache/debuginfod_client/…/debuginfo
//   stderr  Downloaded from http://localhost:8002/buildid/…/debuginfo
//           Server query failed: No such file or directory       and exits with 1
//
// Source: debuginfod-find.c of elfutils 0.188.

#include "symbolize/files/debuginfod_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/base/shown_url.h"
#include "src/base/text.h"
#include "src/base/uninterrupted.h"
#include "src/base/unique_fd.h"
#include "symbolize/files/debuginfod_cache.h"

extern char** environ;

namespace profiler::symbolize {
namespace {

constexpr int kAskedEvery = 1000;  // ms
constexpr size_t kLongest = 1 << 16;

std::string FindInPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const absl::string_view directory : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    std::string file = absl::StrCat(directory.empty() ? "." : directory, "/", program);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// One run of the program.
class Run {
 public:
  absl::Status Start(const std::string& program, const std::string& kind, const std::string& id) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "a pipe");
    out_ = UniqueFd(ends[0]);
    const UniqueFd writing(ends[1]);
    said_ = UniqueFd(memfd_create("debuginfod-find", MFD_CLOEXEC));
    if (!said_.valid()) return ErrnoStatus(errno, "a file in memory");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, said_.get(), STDERR_FILENO);
    const std::array<const char*, 5> arguments = {program.c_str(), "-v", kind.c_str(), id.c_str(),
                                                  nullptr};
    const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr,
                                  const_cast<char* const*>(arguments.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? absl::OkStatus() : ErrnoStatus(error, program);
  }

  // Waits for the end. Returns false if `keep_going` cancelled the run.
  bool Wait(const KeepGoing& keep_going) {
    bool goes_on = true;
    while (goes_on) {
      pollfd watched{.fd = out_.get(), .events = POLLIN, .revents = 0};
      const int ready = poll(&watched, 1, kAskedEvery);
      if (ready > 0 && !ReadPiece()) break;
      if (ready == 0) goes_on = keep_going(0, 0);
    }
    if (!goes_on) kill(pid_, SIGTERM);
    Uninterrupted([&] { return waitpid(pid_, &status_, 0); });
    return goes_on;
  }

  bool succeeded() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  const std::string& path() const { return path_; }
  std::string Said() const {
    std::string text(kLongest, '\0');
    const ssize_t size = pread(said_.get(), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return text;
  }

 private:
  // Reads some output. Returns false at its end.
  bool ReadPiece() {
    std::array<char, 4096> piece;
    const ssize_t size =
        Uninterrupted([&] { return read(out_.get(), piece.data(), piece.size()); });
    if (size <= 0) {
      path_ = path_.substr(0, path_.find('\n'));
      return false;
    }
    if (path_.size() < kLongest) path_.append(piece.data(), static_cast<size_t>(size));
    return true;
  }

  UniqueFd out_, said_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::string path_;
};

// Returns the URL of the download; empty: none.
std::string UrlIn(const std::string& said) {
  for (absl::string_view line : absl::StrSplit(said, '\n')) {
    if (absl::ConsumePrefix(&line, "Downloaded from ")) return ShownUrl({line.data(), line.size()});
  }
  return {};
}

absl::Status Failure(const std::string& said) {
  constexpr std::string_view kFailed = "Server query failed: ";
  const size_t at = said.find(kFailed);
  std::string why = at == said.npos ? said : said.substr(at + kFailed.size());
  why = WithShownUrls(why.substr(0, why.find('\n')));
  if (why == "No such file or directory") return absl::NotFoundError("no server has it");
  return absl::UnavailableError(absl::StrCat("debuginfod-find: ", why.empty() ? "failed" : why));
}

class DebuginfodProgram : public DebugFileSource {
 public:
  explicit DebuginfodProgram(std::string program) : program_(std::move(program)) {}

  absl::StatusOr<SourcedFile> Fetch(FileKind kind, std::span<const std::byte> build_id,
                                    const KeepGoing& keep_going) override {
    const DebuginfodCache cache;
    const DebuginfodCache::Unfinished unfinished(cache.PathOf(kind, build_id));
    if (unfinished.was_there()) cache.RemoveMiss(kind, build_id);
    Run run;
    PROFILER_RETURN_IF_ERROR(run.Start(
        program_, kind == FileKind::kExecutable ? "executable" : "debuginfo", HexOf(build_id)));
    absl::Status failure;
    if (!run.Wait(keep_going)) {
      failure = absl::CancelledError("given up");
    } else if (run.succeeded() && !run.path().empty()) {
      return SourcedFile{run.path(), UrlIn(run.Said())};
    } else {
      failure = Failure(run.Said());
    }
    if (!absl::IsNotFound(failure)) cache.RemoveMiss(kind, build_id);
    return failure;
  }

  void Forget(FileKind kind, std::span<const std::byte> build_id) override {
    DebuginfodCache().Remove(kind, build_id);
  }

 private:
  const std::string program_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodProgram(
    const std::string& program) {
  std::string found = FindInPath(program);
  if (found.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(program, " is not installed (Debian: debuginfod)"));
  }
  return std::make_shared<DebuginfodProgram>(std::move(found));
}

}  // namespace profiler::symbolize

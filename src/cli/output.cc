#include "src/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/file_id.h"
#include "src/base/status.h"
#include "src/cli/visible_text.h"
#include "src/perf_data/read/recording.h"

namespace profiler::cli {
namespace {

// Back to the first column, and what was there goes.
constexpr std::string_view kStartOfLine = "\r\033[K";

// Between `start` and `end`, which may move the cursor, a text that is one line, whatever names are
// in it.
void PrintLine(std::string_view start, std::string_view text, std::string_view end) {
  std::string buffer, line(VisibleText(text, &buffer));
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.insert(0, start).append(end);
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void PrintError(std::string_view message) { PrintLine("profiler: ", message, "\n"); }

void PrintError(const absl::Status& status) {
  PrintError(std::string_view(status.message().data(), status.message().size()));
  std::string buffer;
  const std::string excerpt = ExcerptOf(status);
  const std::string_view shown = VisibleText(excerpt, &buffer);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void PrintWarning(std::string_view message) { PrintLine("profiler: warning: ", message, "\n"); }

void PrintNote(std::string_view text) { PrintLine("[ ", text, " ]\n"); }

void PrintLines(std::string_view lines) {
  std::string buffer;
  const std::string_view shown = VisibleText(lines, &buffer);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void LiveLine::Show(std::string_view text) {
  PrintLine(kStartOfLine, text, "");
  shown_ = true;
}

void LiveLine::Clear() {
  if (shown_) PrintLine(kStartOfLine, "", "");
  shown_ = false;
}

bool ErrorsAreShownLive() { return isatty(STDERR_FILENO) != 0; }

absl::Status CheckStreamOutput(const std::string& path) {
  if (path != "-" || isatty(STDOUT_FILENO) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "-o -: standard output is a terminal; name a file, or a program that reads it (| …)");
}

absl::Status CheckViewOutput(const std::string& path, const std::string& input) {
  struct stat file = {};
  const bool is_file = path != "-" && stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode);
  if (!is_file) return absl::OkStatus();
  const bool is_input = FileIdOf(path) == (input == "-" ? FileIdOf(STDIN_FILENO) : FileIdOf(input));
  const bool is_recording = perf_data::BeginsAsRecording(path);
  if (!is_recording && !is_input) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("-o: ", path, is_recording ? " is a recording" : " is what is read",
                   ", which would be lost; name another file"));
}

Output::Output(const std::string& path) : path_(path == "-" ? "" : path) {
  if (path_.empty()) {
    file_ = stdout;
  } else {
    OpenFile();
  }
}

// In a directory that is not ours to write to, a file that is is written where it is.
void Output::OpenFile() {
  constexpr mode_t kForAll = 0666;  // less the umask
  auto replaced = AtomicFile::Create(path_, kForAll);
  if (replaced.ok()) {
    replaced_.emplace(*std::move(replaced));
    file_ = fdopen(fcntl(replaced_->fd(), F_DUPFD_CLOEXEC, 0), "w");
  } else if (!AtomicFile::CanReplace(path_) || absl::IsPermissionDenied(replaced.status())) {
    file_ = std::fopen(path_.c_str(), "we");
  } else {
    status_ = replaced.status();
    return;
  }
  if (file_ == nullptr) Fail(errno);
}

Output::~Output() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Output::Fail(int error) {
  if (error == EPIPE) {
    abandoned_ = true;
  } else {
    status_.Update(path_.empty() ? ErrnoStatus(error, "standard output")
                                 : WriteError(error, path_));
  }
}

void Output::Write(std::string_view text) {
  if (file_ == nullptr || abandoned_ || !status_.ok()) return;
  text = VisibleText(text, &visible_);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) Fail(errno);
}

void Output::Flush() {
  if (file_ != nullptr && std::fflush(file_) != 0) Fail(errno);
}

absl::Status Output::Close() {
  if (file_ != nullptr) {
    const int result = file_ == stdout ? std::fflush(file_) : std::fclose(file_);
    file_ = nullptr;
    if (result != 0) Fail(errno);
  }
  if (status_.ok() && replaced_) status_ = replaced_->Commit({});
  replaced_.reset();
  return status_;
}

}  // namespace profiler::cli

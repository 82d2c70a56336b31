#include "src/cli/terminal/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/shared_directory.h"
#include "src/base/status.h"
#include "src/cli/command.h"
#include "src/cli/terminal/fitted_line.h"
#include "src/cli/terminal/pager.h"
#include "src/format/perf_data/read/recording.h"
#include "src/terminal/columns.h"
#include "src/terminal/visible_text.h"

namespace profiler::cli {
namespace {

using terminal::VisibleText;

// Moves the cursor to the first column and erases the line.
constexpr std::string_view kStartOfLine = "\r\033[K";

// The pager (only one runs at a time), the messages for standard error that wait for its end, and
// whether the terminal shows a live line.
struct PagerState {
  std::unique_ptr<Pager> pager;
  std::string errors;
  bool shows_live_line = false;
};
PagerState& TheState() {
  static PagerState state;
  return state;
}

void EraseLiveLine() {
  if (!std::exchange(TheState().shows_live_line, false)) return;
  std::fwrite(kStartOfLine.data(), 1, kStartOfLine.size(), stderr);
  std::fflush(stderr);
}

void PutOnStandardError(std::string_view text) {
  if (TheState().pager != nullptr && isatty(STDERR_FILENO) != 0) {
    TheState().errors += text;
    return;
  }
  std::fflush(stdout);
  EraseLiveLine();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Breaks a message between words so that it fits in `columns`; 0 means no limit. Further lines are
// indented.
std::string Wrapped(std::string_view message, size_t columns) {
  constexpr std::string_view kIndent = "  ";
  if (columns == 0) return std::string(message);
  std::string lines;
  size_t used = 0;
  while (!message.empty()) {
    size_t end = std::min(message.find(' ', 1), message.size());
    if (message.substr(end) == " ]") end = message.size();  // a bracket stays with its last word
    std::string_view word = message.substr(0, end);
    message.remove_prefix(end);
    if (used != 0 && word.starts_with(' ') && used + terminal::ColumnsOf(word) > columns) {
      word.remove_prefix(1);
      lines.append("\n").append(kIndent);
      used = kIndent.size();
    }
    lines += word;
    used += terminal::ColumnsOf(word);
  }
  return lines;
}

// Prints a message of one line, wrapped if standard error is a terminal.
void PrintMessage(std::string_view start, std::string_view text, std::string_view end) {
  std::string buffer, line(VisibleText(text, &buffer));
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.insert(0, start).append(end);
  PutOnStandardError(Wrapped(line, StyleOfStandardError().columns) + '\n');
}

std::string ShownLine(std::string_view line, const TerminalStyle& style) {
  const std::string fitted = FittedLine(line, style.columns);
  return style.colour ? PaintedLine(fitted) : fitted;
}

}  // namespace

void PrintError(std::string_view message) { PrintMessage("profiler: ", message, ""); }

void PrintError(const absl::Status& status) {
  PrintError(std::string_view(status.message().data(), status.message().size()));
  std::string buffer;
  const std::string excerpt = ExcerptOf(status);
  PutOnStandardError(VisibleText(excerpt, &buffer));
}

void PrintWarning(std::string_view message) { PrintMessage("profiler: warning: ", message, ""); }

void PrintNote(std::string_view text) { PrintMessage("[ ", text, " ]"); }

void PrintLines(std::string_view lines) {
  std::string buffer;
  PutOnStandardError(VisibleText(lines, &buffer));
}

void PrintFittedLines(std::string_view lines) {
  const TerminalStyle style = StyleOfStandardError();
  std::string buffer, shown;
  for (std::string_view rest = VisibleText(lines, &buffer); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    shown += ShownLine(rest.substr(0, end), style) + '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  PutOnStandardError(shown);
}

// A line of the terminal's full width would leave the cursor on the next one, so the last column
// stays empty.
void ShowLiveLine(std::string_view text) {
  if (text.empty()) return EraseLiveLine();
  std::string buffer, line(VisibleText(text, &buffer));
  std::replace(line.begin(), line.end(), '\n', ' ');
  const size_t columns = StyleOfStandardError().columns;
  if (columns > 1) line = FittedLine(line, columns - 1);
  line.insert(0, kStartOfLine);
  PutOnStandardError(line);
  std::fflush(stderr);
  TheState().shows_live_line = true;
}

bool ErrorsAreShownLive() { return TheState().pager == nullptr && isatty(STDERR_FILENO) != 0; }

absl::Status CheckStreamOutput(const std::string& path) {
  if (path != "-" || isatty(STDOUT_FILENO) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "-o -: standard output is a terminal; name a file, or pipe the output to a program (| …)");
}

absl::Status CheckViewOutput(const std::string& path, const std::string& input) {
  struct stat file = {};
  const bool is_file = path != "-" && stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode);
  if (!is_file) return absl::OkStatus();
  FileAccess own;  // for names from the user, which may refer to descriptors of this process
  const bool is_input =
      own.FileIdOf(path) == (input == "-" ? FileIdOf(STDIN_FILENO) : own.FileIdOf(input));
  const bool is_recording = perf_data::BeginsAsRecording(path);
  if (!is_recording && !is_input) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("-o: ", path, is_recording ? " is a recording" : " is the input",
                   ", which would be overwritten; name another file"));
}

Output::Output(const std::string& path, Lines lines) : path_(path == "-" ? "" : path) {
  if (path_.empty()) {
    file_ = stdout;
    style_ = StyleOfStandardOutput();
    if (lines == Lines::kWhole) style_ = {.pager = style_.pager};
    fitter_ = LineFitter(style_.columns);
    struct stat file;
    if (fstat(STDOUT_FILENO, &file) == 0 && S_ISREG(file.st_mode)) progress_.emplace();
  } else {
    OpenFile();
    progress_.emplace();
  }
}

// Opens the file. An existing file in a directory that we may not write is overwritten in place.
void Output::OpenFile() {
  constexpr mode_t kForAll = 0666;  // minus the umask
  status_ = CheckSharedName(path_, FileOfOthers::kReplaced);
  if (!status_.ok()) return;
  auto replaced = AtomicFile::Create(path_, kForAll);
  if (replaced.ok()) {
    replaced_.emplace(*std::move(replaced));
    file_ = fdopen(fcntl(replaced_->fd(), F_DUPFD_CLOEXEC, 0), "w");
  } else if (!AtomicFile::CanReplace(path_) || absl::IsPermissionDenied(replaced.status())) {
    auto fd = OpenInPlace(path_, O_WRONLY);
    if (!fd.ok()) {
      status_ = fd.status();
      return;
    }
    file_ = fdopen(fcntl(fd->get(), F_DUPFD_CLOEXEC, 0), "w");
  } else {
    status_ = replaced.status();
    return;
  }
  if (file_ == nullptr) Fail(errno);
}

Output::~Output() {
  ClosePager();
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

// Starts the pager when there is text to show, so that earlier errors appear without it.
void Output::OpenTerminal() {
  is_started_ = true;
  EraseLiveLine();
  if (style_.pager.empty() || TheState().pager != nullptr) return;
  TheState().pager = Pager::Start(style_.pager);
}

void Output::ClosePager() {
  if (!is_started_ || style_.pager.empty()) return;
  PagerState& state = TheState();
  state.pager.reset();
  const std::string errors = std::exchange(state.errors, "");
  std::fwrite(errors.data(), 1, errors.size(), stderr);
}

void Output::Fail(int error) {
  if (error != EPIPE) {
    status_.Update(path_.empty() ? ErrnoStatus(error, "standard output")
                                 : WriteError(error, path_));
    return;
  }
  // The user has seen enough, and should not wait while the program computes further text.
  TheState().pager.reset();
  std::_Exit(kExitOk);
}

void Output::Write(std::string_view text) {
  if (file_ == nullptr || !status_.ok() || text.empty()) return;
  if (file_ == stdout && !is_started_) OpenTerminal();
  text = VisibleText(text, &visible_);
  if (style_.columns != 0 || style_.colour) {
    PutLines(text);
  } else {
    Put(text);
  }
}

void Output::WriteBytes(std::string_view bytes) {
  if (file_ == nullptr || !status_.ok() || bytes.empty()) return;
  Put(bytes);
}

void Output::Put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) return Fail(errno);
  if (progress_) ShowProgress(text.size());
}

void Output::ShowProgress(size_t bytes) {
  constexpr uint64_t kStep = 64 << 10;  // as often as the clock is read
  const uint64_t before = std::exchange(written_, written_ + bytes);
  if (before / kStep == written_ / kStep) return;
  progress_->Show([&] {
    return absl::StrFormat("Writing %s: %.1f MB", path_.empty() ? "standard output" : path_,
                           static_cast<double>(written_) / 1e6);
  });
}

void Output::PutLines(std::string_view text) {
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    line_ += text.substr(0, end);
    PutFitted(fitter_.Add(line_));
    line_.clear();
  }
  line_ += text;
}

void Output::PutFitted(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    Put((style_.colour ? PaintedLine(line) : line) + '\n');
  }
}

void Output::Flush() {
  if (file_ != nullptr && std::fflush(file_) != 0) Fail(errno);
}

absl::Status Output::Close() {
  progress_.reset();
  if (file_ != nullptr) {
    PutFitted(fitter_.Finish());
    Put(std::exchange(line_, ""));
    const int result = file_ == stdout ? std::fflush(file_) : std::fclose(file_);
    file_ = nullptr;
    if (result != 0) Fail(errno);
    ClosePager();
  }
  if (status_.ok() && replaced_) status_ = replaced_->Commit({});
  replaced_.reset();
  return status_;
}

}  // namespace profiler::cli

#include "src/cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "src/base/status.h"

namespace profiler::cli {
namespace {

void PrintLine(std::string_view prefix, std::string_view message) {
  std::fflush(stdout);
  std::fprintf(stderr, "profiler: %.*s%.*s\n", static_cast<int>(prefix.size()), prefix.data(),
               static_cast<int>(message.size()), message.data());
}

}  // namespace

void PrintError(std::string_view message) { PrintLine("", message); }

void PrintError(const absl::Status& status) {
  PrintLine("", std::string_view(status.message().data(), status.message().size()));
}

void PrintWarning(std::string_view message) { PrintLine("warning: ", message); }

bool CanBeReadAgain(const std::string& path) {
  struct stat file = {};
  return path != "-" && stat(path.c_str(), &file) == 0 &&
         (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode));
}

bool ErrorsAreShownLive() { return isatty(STDERR_FILENO) != 0; }

absl::Status CheckStreamOutput(const std::string& path) {
  if (path != "-" || isatty(STDOUT_FILENO) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "-o -: standard output is a terminal; name a file, or a program that reads it (| …)");
}

Output::Output(const std::string& path) : path_(path.empty() || path == "-" ? "" : path) {
  std::signal(SIGPIPE, SIG_IGN);
  file_ = path_.empty() ? stdout : std::fopen(path_.c_str(), "we");
  if (file_ == nullptr) Fail(errno);
}

Output::~Output() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Output::Fail(int error) {
  if (error == EPIPE) {
    abandoned_ = true;
  } else if (error_ == 0) {
    error_ = error;
  }
}

void Output::Write(std::string_view text) {
  if (file_ == nullptr || abandoned_ || error_ != 0) return;
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
  if (error_ == 0) return absl::OkStatus();
  return ErrnoStatus(error_, path_.empty() ? "standard output" : path_);
}

}  // namespace profiler::cli

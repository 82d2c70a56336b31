// Source: curl(1) of 7.88, sections "EXIT CODES" and --config.

#include "src/http/curl_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "src/base/byte_reader.h"
#include "src/base/shown_url.h"
#include "src/base/text.h"
#include "src/base/transfer.h"
#include "src/base/uninterrupted.h"
#include "src/base/unique_fd.h"
#include "src/http/credentials.h"
#include "src/http/message.h"

extern char** environ;

namespace profiler::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBody = 3, kHeaders = 4;  // descriptors of the child
// curl gets this time beyond the request's timeout to end itself; then it is killed.
constexpr std::chrono::seconds kPatience{5};
constexpr size_t kLongestSaid = 4096;

// Exit codes of curl(1).
constexpr int kUnsupportedProtocol = 1, kMalformedUrl = 3, kTimedOut = 28, kBadCertificate = 58,
              kBadAuthorities = 77;

// Returns an option of a configuration file: name = "value".
std::string OptionLine(std::string_view name, std::string_view value) {
  std::string line = absl::StrCat(View(name), " = \"");
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

// Escapes colons, because --cert takes the text after a colon for a password.
std::string WithoutPassword(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == ':' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string TransferOptions(const Request& request, const std::string& authorization) {
  std::string text = OptionLine("url", request.url);
  if (request.method == "HEAD") {
    text += "head\n";
  } else {
    text += OptionLine("request", request.method);
  }
  if (HasBody(request)) text += OptionLine("data-binary", absl::StrCat("@/dev/fd/", kBody));
  for (const std::string& line : HeaderLines(request, authorization)) {
    text += OptionLine("header", line);
  }
  const auto milliseconds = request.timeout.count();
  text += absl::StrFormat("max-time = %d.%03d\n", milliseconds / 1000, milliseconds % 1000);
  text += OptionLine("dump-header", absl::StrCat("/dev/fd/", kHeaders));
  return text + "globoff\nsilent\nshow-error\nsuppress-connect-headers\n";
}

std::string ServerOptions(const Options& options) {
  std::string text = OptionLine("proto", "=http,https");
  if (!options.ca_file.empty()) text += OptionLine("cacert", options.ca_file);
  if (!options.certificate_file.empty()) {
    text += OptionLine("cert", WithoutPassword(options.certificate_file));
    text += OptionLine("key", options.key_file);
  }
  if (!options.proxy.empty()) text += OptionLine("proxy", options.proxy);
  return text;
}

// Returns a file in memory that contains `text`, to be read from its start.
absl::StatusOr<UniqueFd> FileInMemory(std::string_view text) {
  UniqueFd file(memfd_create("curl", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "a file in memory");
  const int error = WriteFully(file.get(), BytesOfText(text));
  if (error != 0) return ErrnoStatus(error, "a file in memory");
  if (lseek(file.get(), 0, SEEK_SET) != 0) return ErrnoStatus(errno, "a file in memory");
  return file;
}

// A pipe that the child writes to.
struct Pipe {
  absl::Status Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "a pipe");
    reading = UniqueFd(ends[0]);
    writing = UniqueFd(ends[1]);
    return absl::OkStatus();
  }
  UniqueFd reading, writing;
  std::string text;
};

// One run of the program.
class Run {
 public:
  ~Run() {
    if (pid_ > 0) End();
  }

  absl::Status Start(const std::string& program, const std::string& options,
                     const std::string& body) {
    PROFILER_ASSIGN_OR_RETURN(const UniqueFd config, FileInMemory(options));
    PROFILER_ASSIGN_OR_RETURN(const UniqueFd sent, FileInMemory(body));
    PROFILER_ASSIGN_OR_RETURN(said_, FileInMemory(""));
    PROFILER_RETURN_IF_ERROR(body_.Open());
    PROFILER_RETURN_IF_ERROR(headers_.Open());
    const std::array<int, 5> given = {config.get(), body_.writing.get(), said_.get(), sent.get(),
                                      headers_.writing.get()};
    const int error = Spawn(program, given);
    body_.writing.Reset();
    headers_.writing.Reset();
    if (error == 0) return absl::OkStatus();
    pid_ = -1;
    if (error == ENOENT) {
      return absl::FailedPreconditionError(
          absl::StrCat(program, " is not installed (Debian: curl)"));
    }
    return ErrnoStatus(error, program);
  }

  // Reads until the program has closed both pipes.
  absl::Status Read(size_t most, Clock::time_point deadline) {
    while (body_.reading.valid() || headers_.reading.valid()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return absl::DeadlineExceededError("curl does not end");
      std::array<pollfd, 2> watched = {pollfd{.fd = body_.reading.get(), .events = POLLIN},
                                       pollfd{.fd = headers_.reading.get(), .events = POLLIN}};
      if (poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0) continue;
      const bool fits = (watched[0].revents == 0 || ReadPiece(body_, most)) &&
                        (watched[1].revents == 0 || ReadPiece(headers_, kMostHeaderBytes));
      if (!fits) return absl::ResourceExhaustedError("the answer is too long");
    }
    return absl::OkStatus();
  }

  // Returns the exit code, or -1 if the program was killed.
  int Wait() {
    int status = 0;
    Uninterrupted([&] { return waitpid(std::exchange(pid_, -1), &status, 0); });
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void End() {
    kill(pid_, SIGKILL);
    Wait();
  }

  std::string TakeBody() { return std::move(body_.text); }
  const std::string& headers() const { return headers_.text; }
  // Returns curl's last message: "Failed to connect …" from "curl: (7) Failed to connect …".
  std::string Said() const {
    std::string text(kLongestSaid, '\0');
    const ssize_t size = pread(said_.get(), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<size_t>(size));
    if (text.starts_with("curl: (")) text.erase(0, std::min(text.find(") "), text.size() - 2) + 2);
    text = text.substr(0, text.find('\n'));
    return text.empty() ? "curl failed" : text;
  }

 private:
  // Starts the program. It gets the descriptors `given` as its descriptors 0, 1, … Returns 0, or an
  // error number.
  int Spawn(const std::string& program, std::span<const int> given) {
    // First copies each descriptor above all target numbers, then to its target number. Otherwise
    // one copy could overwrite a descriptor that is still needed.
    std::vector<UniqueFd> high;
    for (const int fd : given) {
      high.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(given.size())));
      if (!high.back().valid()) return errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (size_t i = 0; i < high.size(); ++i) {
      posix_spawn_file_actions_adddup2(&actions, high[i].get(), static_cast<int>(i));
    }
    const std::array<const char*, 5> arguments = {program.c_str(), "-q", "-K", "-", nullptr};
    const int error = posix_spawnp(&pid_, program.c_str(), &actions, nullptr,
                                   const_cast<char* const*>(arguments.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }

  // Returns false if there are more than `most` bytes.
  static bool ReadPiece(Pipe& pipe, size_t most) {
    std::array<char, 1 << 16> piece;
    const ssize_t size =
        Uninterrupted([&] { return read(pipe.reading.get(), piece.data(), piece.size()); });
    if (size <= 0) {
      pipe.reading.Reset();
      return true;
    }
    if (static_cast<size_t>(size) > most - pipe.text.size()) return false;
    pipe.text.append(piece.data(), static_cast<size_t>(size));
    return true;
  }

  pid_t pid_ = -1;
  UniqueFd said_;
  Pipe body_, headers_;
};

absl::StatusCode CodeOf(int exit_code) {
  switch (exit_code) {
    case kTimedOut:
      return absl::StatusCode::kDeadlineExceeded;
    case kUnsupportedProtocol:
    case kMalformedUrl:
    case kBadCertificate:
    case kBadAuthorities:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

class ProgramClient : public Client {
 public:
  ProgramClient(std::string program, Options options)
      : program_(std::move(program)), options_(std::move(options)) {}

  absl::StatusOr<Response> Send(const Request& request) override {
    PROFILER_RETURN_IF_ERROR(CheckRequest(request));
    PROFILER_ASSIGN_OR_RETURN(const std::string authorization, AuthorizationHeader(options_));
    Run run;
    PROFILER_RETURN_IF_ERROR(run.Start(
        program_, TransferOptions(request, authorization) + ServerOptions(options_), request.body));
    const std::string prefix = ShownUrl(request.url) + ": ";
    const absl::Status read = run.Read(request.most, Clock::now() + request.timeout + kPatience);
    if (!read.ok()) return Prefixed(prefix, read);
    const int exit_code = run.Wait();
    if (exit_code != 0) return absl::Status(CodeOf(exit_code), prefix + WithShownUrls(run.Said()));
    HeaderReader headers;
    for (const absl::string_view line : absl::StrSplit(run.headers(), '\n')) {
      headers.Add({line.data(), line.size()});
    }
    Response response = headers.Take();
    // With --head, curl writes the headers where the body would be.
    if (request.method != "HEAD") response.body = run.TakeBody();
    return response;
  }

 private:
  const std::string program_;
  const Options options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> CreateProgramClient(const Options& options,
                                                            const std::string& program) {
  PROFILER_RETURN_IF_ERROR(CheckOptions(options));
  return std::make_unique<ProgramClient>(program, options);
}

}  // namespace profiler::http

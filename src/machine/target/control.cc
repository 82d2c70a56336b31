#include "src/machine/target/control.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::target {
namespace {

constexpr std::pair<std::string_view, Control::Command> kCommands[] = {
    {"enable", Control::Command::kEnable},     {"disable", Control::Command::kDisable},
    {"stop", Control::Command::kStop},         {"ping", Control::Command::kPing},
    {"snapshot", Control::Command::kSnapshot},
};

Control::Command CommandOf(std::string_view line) {
  while (!line.empty() && absl::ascii_isspace(static_cast<unsigned char>(line.back()))) {
    line.remove_suffix(1);
  }
  for (const auto& [name, command] : kCommands) {
    if (line == name) return command;
  }
  return Control::Command::kUnknown;
}

// Opens a FIFO for reading and writing. That succeeds before the other side opens it, and there is
// no end of file when the other side closes it.
absl::StatusOr<UniqueFd> OpenFifo(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  return fd;
}

// Returns a copy, because the original descriptor is closed by its owner.
absl::StatusOr<UniqueFd> CopyOf(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return ErrnoStatus(errno, absl::StrCat("--control: descriptor ", fd));
  return copy;
}

}  // namespace

absl::StatusOr<ControlPlaces> ParseControl(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(absl::StrCat(
      "--control: '", text, "': give fd:COMMANDS[,ANSWERS] or fifo:COMMANDS[,ANSWERS]"));
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return wrong;
  const std::string kind = text.substr(0, colon);
  const size_t comma = std::min(text.find(',', colon), text.size());
  const std::string commands = text.substr(colon + 1, comma - colon - 1);
  const std::string answers = comma < text.size() ? text.substr(comma + 1) : "";
  if (commands.empty() || (comma < text.size() && answers.empty())) return wrong;
  ControlPlaces places;
  if (kind == "fifo") {
    places.fifo = commands;
    places.answer_fifo = answers;
    return places;
  }
  const auto fd = procfs::ParseNumber<int>(commands);
  const auto answer_fd =
      answers.empty() ? std::optional<int>(-1) : procfs::ParseNumber<int>(answers);
  if (kind != "fd" || !fd || *fd < 0 || !answer_fd) return wrong;
  places.fd = *fd;
  places.answer_fd = *answer_fd;
  return places;
}

absl::StatusOr<std::unique_ptr<Control>> Control::Open(const ControlPlaces& places) {
  std::unique_ptr<Control> control(new Control());
  if (!places.fifo.empty()) {
    PROFILER_ASSIGN_OR_RETURN(control->fd_, OpenFifo(places.fifo));
    if (places.answer_fifo.empty()) return control;
    PROFILER_ASSIGN_OR_RETURN(control->answer_fd_, OpenFifo(places.answer_fifo));
    return control;
  }
  PROFILER_ASSIGN_OR_RETURN(control->fd_, CopyOf(places.fd));
  const int flags = fcntl(control->fd(), F_GETFL);
  if (flags < 0 || fcntl(control->fd(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return ErrnoStatus(errno, absl::StrCat("--control: descriptor ", places.fd));
  }
  if (places.answer_fd >= 0) {
    PROFILER_ASSIGN_OR_RETURN(control->answer_fd_, CopyOf(places.answer_fd));
  }
  return control;
}

std::vector<Control::Command> Control::Take() {
  std::array<char, 256> buffer;
  for (;;) {
    const ssize_t got = read(fd(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      is_over_ = true;
      // A last line without a newline is a command, too.
      if (!rest_.empty() && rest_.back() != '\n') rest_ += '\n';
      break;
    }
    rest_.append(buffer.data(), static_cast<size_t>(got));
  }
  std::vector<Command> commands;
  size_t start = 0;
  for (size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1) {
    commands.push_back(CommandOf(std::string_view(rest_).substr(start, end - start)));
  }
  rest_.erase(0, start);
  return commands;
}

void Control::Acknowledge() {
  static constexpr std::string_view kAnswer = "ack\n";
  if (!answer_fd_.valid()) return;
  [[maybe_unused]] const ssize_t told = write(answer_fd_.get(), kAnswer.data(), kAnswer.size());
}

}  // namespace profiler::target

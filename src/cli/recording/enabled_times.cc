#include "src/cli/recording/enabled_times.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/option_values.h"

namespace profiler::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

bool IsEnabledTimes(const std::string& text) { return text.find('-', 1) != std::string::npos; }

absl::StatusOr<std::vector<EnabledTime>> ParseEnabledTimes(const std::string& text) {
  std::vector<EnabledTime> times;
  for (const std::string& piece : SplitList(text)) {
    const size_t dash = piece.find('-');
    uint32_t from = 0, to = 0;
    const bool is_range = dash != std::string::npos &&
                          absl::SimpleAtoi(piece.substr(0, dash), &from) &&
                          absl::SimpleAtoi(piece.substr(dash + 1), &to);
    const bool follows = times.empty() || milliseconds(from) >= times.back().to;
    if (!is_range || from >= to || !follows) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--delay: '", text, "': give ascending times in milliseconds, such as 10-20,30-40"));
    }
    times.push_back({milliseconds(from), milliseconds(to)});
  }
  return times;
}

absl::StatusOr<std::unique_ptr<TimedControl>> TimedControl::Start(std::vector<EnabledTime> times) {
  std::unique_ptr<TimedControl> control(new TimedControl);
  PROFILER_ASSIGN_OR_RETURN(control->commands_, MakePipe());
  PROFILER_ASSIGN_OR_RETURN(control->answers_, MakePipe());
  control->end_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!control->end_.valid()) return ErrnoStatus(errno, "eventfd");
  control->thread_ =
      std::thread([self = control.get(), times = std::move(times)] { self->Run(times); });
  return control;
}

TimedControl::~TimedControl() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(end_.get(), &one, sizeof(one));
  thread_.join();
}

target::ControlPlaces TimedControl::places() const {
  return {.fd = commands_.read_end.get(), .answer_fd = answers_.write_end.get()};
}

void TimedControl::Run(const std::vector<EnabledTime>& times) {
  // The recording answers once it runs.
  if (!Say("ping\n")) return;
  const steady_clock::time_point began = steady_clock::now();
  for (const EnabledTime& time : times) {
    if (!WaitUntil(began + time.from) || !Say("enable\n")) return;
    if (!WaitUntil(began + time.to) || !Say("disable\n")) return;
  }
}

bool TimedControl::WaitUntil(steady_clock::time_point time) {
  pollfd end = {.fd = end_.get(), .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(time - steady_clock::now());
    if (left.count() <= 0) return true;
    const int ready = poll(&end, 1, static_cast<int>(std::min<int64_t>(left.count(), INT32_MAX)));
    if (ready > 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool TimedControl::AwaitAnswer() {
  pollfd ends[] = {{.fd = end_.get(), .events = POLLIN, .revents = 0},
                   {.fd = answers_.read_end.get(), .events = POLLIN, .revents = 0}};
  while (poll(ends, 2, -1) < 0) {
    if (errno != EINTR) return false;
  }
  if (ends[0].revents != 0) return false;
  char answer[16];
  return read(answers_.read_end.get(), answer, sizeof(answer)) > 0;
}

bool TimedControl::Say(const char* line) {
  const size_t size = std::strlen(line);
  if (write(commands_.write_end.get(), line, size) != static_cast<ssize_t>(size)) return false;
  return AwaitAnswer();
}

}  // namespace profiler::cli

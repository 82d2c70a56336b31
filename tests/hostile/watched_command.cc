#include "tests/hostile/watched_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "src/base/unique_fd.h"

namespace profiler::tests {
namespace {

constexpr int kMillisecondsBetweenLooks = 40;

double CpuOfChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Reads a small file in /proc. This must be cheap, because it happens every 40 ms.
std::string ReadSmall(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

// Returns the memory in bytes (Pss) of a process and its descendants. Follows only children that a
// process's main thread started.
uint64_t MemoryOfTree(pid_t root) {
  const std::string process = "/proc/" + std::to_string(root);
  const std::string rollup = ReadSmall(process + "/smaps_rollup");
  const size_t at = rollup.find("\nPss:");
  uint64_t sum = at == std::string::npos ? 0 : 1024 * std::strtoull(&rollup[at + 5], nullptr, 10);
  const std::string children = ReadSmall(process + "/task/" + std::to_string(root) + "/children");
  const char* next = children.c_str();
  for (char* end = nullptr; const long child = std::strtol(next, &end, 10); next = end) {
    sum += MemoryOfTree(static_cast<pid_t>(child));
  }
  return sum;
}

}  // namespace

Watched RunWatched(const std::vector<std::string>& argv, const std::string& folder,
                   double most_seconds, double seconds_to_interrupt) {
  using Clock = std::chrono::steady_clock;
  Watched watched;
  const double cpu_before = CpuOfChildren();
  const auto began = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  Running running(argv, folder);
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, running.pid(), 0)));
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, kMillisecondsBetweenLooks) == 0) {
    watched.memory = std::max(watched.memory, MemoryOfTree(running.pid()));
    if (passed() > seconds_to_interrupt) {
      running.Signal(SIGINT);
      seconds_to_interrupt += 1;
    }
    if (passed() < most_seconds || watched.hung) continue;
    watched.hung = true;
    running.Signal(SIGKILL);
  }
  watched.ended = running.Wait();
  watched.seconds = passed();
  watched.cpu = CpuOfChildren() - cpu_before;
  return watched;
}

}  // namespace profiler::tests

#include "tests/hostile/attackers.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>

#include "gtest/gtest.h"
#include "src/base/unique_fd.h"
#include "tests/hostile/hostile_elf.h"

namespace profiler::tests {
namespace {

// Niceness of the attackers, so that this test gets CPU time.
constexpr int kNice = 5;
// Limits of each attacker's process. They end attackers even if this test is killed.
constexpr rlim_t kMostCpuSeconds = 60;
constexpr unsigned kMostSeconds = 300;
constexpr rlim_t kMostProcesses = 400;
constexpr int kMillisecondsToBeReady = 60'000;

void Limit(__rlimit_resource_t resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

// Returns the parent of each process. Keys and values are pids.
std::map<pid_t, pid_t> Parents() {
  std::map<pid_t, pid_t> parents;
  DIR* const processes = opendir("/proc");
  if (processes == nullptr) return parents;
  while (const dirent* const entry = readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream status("/proc/" + std::string(entry->d_name) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("PPid:")) parents[pid] = std::atoi(line.c_str() + 5);
    }
  }
  closedir(processes);
  return parents;
}

bool IsBelow(pid_t pid, pid_t ancestor, const std::map<pid_t, pid_t>& parents) {
  for (auto at = parents.find(pid); at != parents.end(); at = parents.find(at->second)) {
    if (at->second == ancestor) return true;
  }
  return false;
}

}  // namespace

// Makes orphaned descendants children of this process, so that EndAll() finds and kills them.
Attackers::Attackers() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

Attackers::~Attackers() { EndAll(); }

pid_t Attackers::StartAsRoot(const Program& program) {
  int pipe_ends[2] = {};
  EXPECT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  UniqueFd from(pipe_ends[0]), to(pipe_ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    from.Reset();
    setpgid(0, 0);  // makes a group; its children belong to it, too
    Limit(RLIMIT_CPU, kMostCpuSeconds);
    Limit(RLIMIT_CORE, 0);
    if (setpriority(PRIO_PROCESS, 0, kNice) != 0) _exit(126);
    alarm(kMostSeconds);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(open("/dev/null", O_RDWR), 0);
    dup2(0, 1);
    if (chdir("/") != 0) _exit(126);
    program([&] { to.Reset(); });
    _exit(0);
  }
  EXPECT_GT(pid, 0);
  started_.push_back(pid);
  to.Reset();
  pollfd ready{.fd = from.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ready, 1, kMillisecondsToBeReady), 1) << "an attacker does not get ready";
  return pid;
}

pid_t Attackers::Start(const Program& program) {
  return StartAsRoot([&](const std::function<void()>& ready) {
    GiveUpRights();
    program(ready);
  });
}

pid_t Attackers::Execute(const std::string& path) {
  return Start([&](const auto&) {
    execl(path.c_str(), path.c_str(), nullptr);
    _exit(127);
  });
}

pid_t Attackers::SpinIn(const std::string& path) {
  return Start([&](const std::function<void()>& ready) {
    void* const code = MapCode(path);
    if (code == nullptr) _exit(126);
    ready();
    SpinAt(code);
  });
}

void Attackers::Pause() const {
  for (const pid_t pid : started_) kill(-pid, SIGSTOP);
}

void Attackers::Resume() const {
  for (const pid_t pid : started_) kill(-pid, SIGCONT);
}

// Repeats until no descendant is left, because attackers may start processes during the loop.
void Attackers::EndAll() {
  for (const pid_t pid : started_) kill(-pid, SIGKILL);
  for (bool any = !started_.empty(); any;) {
    any = false;
    const std::map<pid_t, pid_t> parents = Parents();
    for (const auto& [pid, parent] : parents) {
      if (!IsBelow(pid, getpid(), parents)) continue;
      any = true;
      kill(pid, SIGKILL);
    }
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
  for (const pid_t pid : started_) unlink(("/tmp/perf-" + std::to_string(pid) + ".map").c_str());
  started_.clear();
}

void GiveUpRights() {
  Limit(RLIMIT_NPROC, kMostProcesses);
  const bool is_done = setgroups(0, nullptr) == 0 && setgid(kAttacker) == 0 &&
                       setuid(kAttacker) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
                       prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  if (!is_done) _exit(126);
}

void Spin() {
  for (;;) asm volatile("");
}

void SpinAt(void* address) {
  reinterpret_cast<void (*)()>(address)();  // does not return
  _exit(0);
}

void SpinInTurns(const std::vector<void*>& codes, uint64_t entry) {
  constexpr uint64_t kLoops = 1 << 20;
  for (;;) {
    for (void* const code : codes) {
      void* const start = static_cast<std::byte*>(code) + (entry - kCode);
      reinterpret_cast<void (*)(uint64_t loops, uint64_t depth)>(start)(kLoops, 0);
    }
  }
}

void* MapCode(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const start = mmap(nullptr, kEnd, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
  return start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start) + kCode;
}

void* CodeInMemory() {
  const std::string bytes = HostileElf().Bytes();
  void* const start =
      mmap(nullptr, kEnd, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) _exit(126);
  std::memcpy(start, bytes.data(), kEnd);
  if (mprotect(start, kEnd, PROT_READ | PROT_EXEC) != 0) _exit(126);
  return static_cast<std::byte*>(start) + kCode;
}

void WaitFor(pid_t child) { waitpid(child, nullptr, 0); }

void WriteAs(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace profiler::tests

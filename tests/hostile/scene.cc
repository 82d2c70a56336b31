#include "tests/hostile/scene.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "gmock/gmock.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Limits of a command in seconds, in addition to the recording time. The limit of CPU time detects
// commands that compute for ever. The limit of elapsed time is larger, because elapsed time also
// depends on other programs of the machine.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostCpu = 40, kMostSeconds = 300;
constexpr bool kLimitsMemory = false;  // not limited: sanitizers take most of the memory
#elif defined(__OPTIMIZE__)
constexpr double kMostCpu = 5, kMostSeconds = 120;
constexpr bool kLimitsMemory = true;
#else
// The limit is larger, because unoptimised code takes at least four times as long as a release
// build.
constexpr double kMostCpu = 20, kMostSeconds = 120;
constexpr bool kLimitsMemory = true;
#endif
constexpr uint64_t kMostMemory = uint64_t{512} << 20;
constexpr ptrdiff_t kMostErrorLines = 12;

// Returns the first 4000 bytes of `text`, for a message.
std::string Beginning(const std::string& text) { return text.substr(0, 4000); }

bool IsControl(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Scene::Scene() {
  char name[] = "/tmp/hostile-XXXXXX";
  folder_ = mkdtemp(name);
  ours_ = folder_ + "/ours";
  theirs_ = folder_ + "/theirs";
  EXPECT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(mkdir(ours_.c_str(), 0700), 0);
  EXPECT_EQ(mkdir(theirs_.c_str(), 0755), 0);
  GiveAway(theirs_);
  inotify_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

Scene::~Scene() {
  attackers_.EndAll();
  close(inotify_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Scene::Write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  GiveAway(path);
}

void Scene::GiveAway(const std::string& path) const {
  EXPECT_EQ(lchown(path.c_str(), kAttacker, kAttacker), 0) << path;
}

std::vector<std::string> Scene::Links(const std::string& path, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(path + "-" + std::to_string(i));
    EXPECT_EQ(link(path.c_str(), names.back().c_str()), 0) << names.back();
  }
  return names;
}

std::string Scene::MakeFifo(const std::string& name) {
  std::string path = File(name);
  EXPECT_EQ(mkfifo(path.c_str(), 0666), 0) << path;
  GiveAway(path);
  ForbidToOpen(path);
  return path;
}

std::string Scene::MakeDevice(const std::string& name) {
  std::string path = File(name);
  EXPECT_EQ(mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 5)), 0) << path;
  GiveAway(path);
  ForbidToOpen(path);
  return path;
}

void Scene::ForbidToOpen(const std::string& path) {
  EXPECT_GE(inotify_add_watch(inotify_, path.c_str(), IN_OPEN), 0) << path;
}

int Scene::Opened() const {
  alignas(inotify_event) char buffer[4096];
  int count = 0;
  for (;;) {
    const ssize_t size = read(inotify_, buffer, sizeof(buffer));
    if (size <= 0) return count;
    for (ssize_t at = 0; at < size; ++count) {
      const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

void Scene::StartVictim() {
  const std::string program = Runfile("tests/live/workload");
  victim_ = attackers_.StartAsRoot([&](const auto&) {
    setpriority(PRIO_PROCESS, 0, 0);
    execl(program.c_str(), "workload", "busy", "250", nullptr);
    _exit(127);
  });
}

Watched Scene::Profiler(const std::vector<std::string>& arguments, double recorded,
                        double interrupted) {
  std::vector<std::string> command = {Runfile("profiler")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  SCOPED_TRACE(testing::PrintToString(arguments));
  Watched watched = RunWatched(command, ours_, recorded + kMostSeconds, interrupted);
  const Finished& ended = watched.ended;
  std::cout << arguments.front() << ": " << watched.seconds << " s, " << watched.cpu
            << " s of CPU, " << (watched.memory >> 20) << " MB\n";
  EXPECT_FALSE(watched.hung);
  const bool may_be_interrupted = watched.seconds > interrupted;
  if (!watched.hung && !(may_be_interrupted && ended.signal == SIGINT)) {
    EXPECT_EQ(ended.signal, 0);
    EXPECT_THAT(ended.exit_code, testing::AnyOf(0, 1)) << Beginning(ended.err);
  }
  EXPECT_LT(watched.cpu, recorded + kMostCpu);
  if (kLimitsMemory) {
    EXPECT_LT(watched.memory, kMostMemory);
  }
  EXPECT_LE(std::count(ended.err.begin(), ended.err.end(), '\n'), kMostErrorLines)
      << Beginning(ended.err);
  CheckText(ended.err);
  CheckText(ended.out);
  return watched;
}

void Scene::CheckText(const std::string& text) const {
  const auto control = std::find_if(text.begin(), text.end(), IsControl);
  if (control != text.end()) {
    const auto at = static_cast<size_t>(control - text.begin());
    ADD_FAILURE() << "control character " << static_cast<int>(*control) << " in "
                  << testing::PrintToString(text.substr(at - std::min<size_t>(at, 200), 400));
  }
  for (const std::string& line : Lines(text)) {
    if (line.find(" workload ") == std::string::npos) continue;
    EXPECT_THAT(line, Not(HasSubstr("evil"))) << "a name of the attackers in a row of the victim";
  }
}

void Scene::ForgetNames() { setenv("HOME", ours_.c_str(), 1); }

void ExpectVictim(const std::string& report) {
  int named = 0, unnamed = 0;
  for (const std::string& line : Lines(report)) {
    if (line.find(" workload ") == std::string::npos) continue;
    if (line.find("[.] ") == std::string::npos) continue;
    const bool has_name = line.find("[.] 0x") == std::string::npos;
    ++(has_name ? named : unnamed);
  }
  EXPECT_GT(named, 0) << Beginning(report);
  EXPECT_EQ(unnamed, 0) << Beginning(report);
}

}  // namespace profiler::tests

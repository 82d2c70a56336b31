// Checks which files the program opens while its capabilities are in force. Root makes a copy of
// the program with capabilities, and traces it while an unprivileged user runs it. Each open is
// logged with the thread's effective set at that moment. With capabilities in force, the program
// may open only names that it made itself, and images of recorded processes.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/unique_fd.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;

constexpr gid_t kGroup = 54322;
constexpr uid_t kUser = 65534;
constexpr int kCapPerfmon = 38;  // CAP_PERFMON, for older <linux/capability.h>

struct Open {
  std::string path;
  bool is_below = false;  // True if openat2(2) opened it, without leaving the directory
  uint64_t effective = 0;
};

uint64_t EffectiveOf(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapEff:")) return std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  return 0;
}

std::string TextAt(pid_t thread, uint64_t address) {
  std::string text;
  for (char c = 0; text.size() < PATH_MAX; text += c, ++address) {
    const iovec here = {&c, 1};
    const iovec there = {reinterpret_cast<void*>(address), 1};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != 1 || c == 0) break;
  }
  return text;
}

// A runner of commands as the unprivileged user. It logs the files that a command and the command's
// children open.
class OpenLog {
 public:
  int Run(const std::vector<std::string>& argv, const std::string& folder) {
    opens.clear();
    has_begun_ = false;
    std::array<int, 2> ends = {-1, -1};
    if (pipe(ends.data()) != 0) return -1;
    const UniqueFd go_on(ends[0]), let_go(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) Become(argv, folder, go_on.get());
    // The child must not ask to be traced (PTRACE_TRACEME): then its program would get no
    // capabilities from its file. If root attaches to the child, the program gets them.
    int status = 0;
    if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0 || waitpid(pid, &status, 0) != pid) return -1;
    constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                              PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    ptrace(PTRACE_SETOPTIONS, pid, 0, kOptions);
    if (write(let_go.get(), "", 1) != 1) return -1;
    ptrace(PTRACE_SYSCALL, pid, 0, 0);
    int exit_code = -1;
    // Ends when all traced threads have ended. Waiting for all children could take for ever,
    // because the test may have other children.
    std::set<pid_t> traced = {pid};
    while (!traced.empty()) {
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) break;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        traced.erase(thread);
        if (thread == pid && WIFEXITED(status)) exit_code = WEXITSTATUS(status);
        continue;
      }
      traced.insert(thread);
      int signal = WSTOPSIG(status);
      if (signal == (SIGTRAP | 0x80)) {
        Note(thread);
        signal = 0;
      } else if (signal == SIGTRAP || (signal == SIGSTOP && met_.insert(thread).second)) {
        signal = 0;  // not for the thread: a ptrace event, or a new thread's stop
      }
      ptrace(PTRACE_SYSCALL, thread, 0, signal);
    }
    return exit_code;
  }

  std::vector<Open> opens;

 private:
  [[noreturn]] static void Become(const std::vector<std::string>& argv, const std::string& folder,
                                  int go_on) {
    std::vector<char*> pointers;
    for (const std::string& argument : argv) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    const gid_t groups[] = {kGroup};
    const bool is_user = chdir(folder.c_str()) == 0 && setgroups(1, groups) == 0 &&
                         setresgid(kUser, kUser, kUser) == 0 && setresuid(kUser, kUser, kUser) == 0;
    const int null = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    setenv("HOME", folder.c_str(), 1);
    char byte = 0;
    if (is_user && read(go_on, &byte, 1) == 1) execv(pointers[0], pointers.data());
    _exit(127);
  }

  void Note(pid_t thread) {
    __ptrace_syscall_info info = {};
    const long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info);
    if (size <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    size_t path = 1;
    switch (info.entry.nr) {
#ifdef SYS_open
      case SYS_open:
      case SYS_creat:
        path = 0;
        break;
#endif
      case SYS_openat:
      case SYS_openat2:
        break;
      // The program's own first system call. The dynamic linker made all earlier calls, to open
      // libraries.
      case SYS_capset:
        has_begun_ = true;
        return;
      default:
        return;
    }
    if (!has_begun_) return;
    opens.push_back(
        {TextAt(thread, info.entry.args[path]), info.entry.nr == SYS_openat2, EffectiveOf(thread)});
  }

  std::set<pid_t> met_;
  bool has_begun_ = false;  // True if the dynamic linker is done and the program runs
};

class OpensOfACopy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file capabilities";
    folder_ = "/tmp/profiler-opens-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ASSERT_EQ(chown(folder_.c_str(), kUser, kUser), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    struct statvfs file_system;
    ASSERT_EQ(statvfs(folder_.c_str(), &file_system), 0);
    if (file_system.f_flag & ST_NOSUID) GTEST_SKIP() << "/tmp is mounted with nosuid";
    copy_ = folder_ + "/profiler";
    fs::copy_file(Runfile("profiler"), copy_);
    ASSERT_EQ(chown(copy_.c_str(), 0, kGroup), 0);
    ASSERT_EQ(chmod(copy_.c_str(), 0750), 0);
    // Also sets the effective bit, as older installation instructions did. Then the capabilities
    // are in force at the start, and the program itself must lower them.
    vfs_cap_data data = {};
    data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    for (const int capability : {kCapPerfmon, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_IPC_LOCK}) {
      data.data[capability / 32].permitted |= 1u << (capability % 32);
    }
    if (setxattr(copy_.c_str(), "security.capability", &data, XATTR_CAPS_SZ_2, 0) != 0) {
      GTEST_SKIP() << "no file can have capabilities here: " << std::strerror(errno);
    }
    if (Run({"record", "-q", "-a", "--duration", "0.2", "-o", "a.data"}) != 0) {
      GTEST_SKIP() << "nothing can be recorded, or traced";
    }
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), copy_);
    return log_.Run(arguments, folder_);
  }

  // Returns names that the program opened with capabilities in force, although it did not make
  // these names itself.
  std::vector<std::string> WronglyOpened() const {
    static const std::regex kOwn(
        "/proc/(self|thread-self|[0-9]+)(/task/[0-9]+)?/"
        "(maps|status|stat|statm|comm|cmdline|cgroup|schedstat|syscall|wchan|root|exe|task|"
        "mountinfo|timens_offsets|limits|smaps_rollup|map_files|map_files/[0-9a-f]+-[0-9a-f]+)"
        "|/proc|/proc/(kallsyms|modules|iomem|cpuinfo|meminfo|mounts|stat|loadavg)"
        "|/proc/sys/kernel/[a-z_/]+|/sys/.*|/proc/self/fd/[0-9]+");
    std::vector<std::string> wrong;
    for (const Open& open : log_.opens) {
      if (open.effective == 0 || open.is_below) continue;
      if (!std::regex_match(open.path, kOwn)) wrong.push_back(open.path);
    }
    return wrong;
  }
  bool HasRaised() const {
    for (const Open& open : log_.opens) {
      if (open.effective != 0) return true;
    }
    return false;
  }

  OpenLog log_;
  std::string folder_, copy_;
};

TEST_F(OpensOfACopy, WithCapabilitiesAreThoseOfItsOwnNames) {
  EXPECT_TRUE(HasRaised()) << "nothing was read of other processes";
  EXPECT_THAT(WronglyOpened(), testing::IsEmpty()) << "record -a";
  const std::vector<std::vector<std::string>> commands = {
      {"record", "-q", "-a", "--call-graph", "dwarf", "--duration", "0.2", "-o", "b.data"},
      {"record", "-q", "-a", "--duration", "0.1", "-o", "c.data", "--", "/bin/true"},
      {"report", "--stdio", "-i", "a.data"},
      {"report", "--symfs", "/", "--kallsyms", "/proc/kallsyms", "-i", "a.data"},
      {"report", "-i", "a.data", "-o", "page.html", "--source"},
      {"annotate", "-i", "a.data"},
      {"script", "-i", "a.data"},
      {"folded", "-i", "a.data"},
      {"flamegraph", "-i", "a.data", "-o", "graph.svg"},
      {"export", "-i", "a.data", "-o", "profile.pb.gz"},
      {"summary", "-i", "a.data"},
      {"diff", "a.data", "b.data"},
      {"dump", "-i", "a.data"},
      {"evlist", "-i", "a.data"},
      {"buildid-list", "-i", "a.data"},
      {"archive", "-i", "a.data", "-o", "archived.data"},
      {"convert", "a.data", "-o", "converted.data"},
      {"symbolize", "-e", "/bin/true", "0x1000"},
      {"stat", "-a", "--duration", "0.1"},
      {"list"},
      {"version"},
  };
  for (const std::vector<std::string>& command : commands) {
    Run(command);
    EXPECT_THAT(WronglyOpened(), testing::IsEmpty()) << testing::PrintToString(command);
  }
}

// Views must not use capabilities to open files that their arguments or a recording name.
TEST_F(OpensOfACopy, NamedFilesAreOpenedWithTheUsersRights) {
  const std::string secret = "/root/.profiler-opens-test";
  fs::remove_all(secret);  // left by an earlier run that was killed
  fs::create_directory(secret);
  fs::remove_all(secret);  // left by an earlier run that was killed
  fs::create_directory(secret);
  ASSERT_EQ(chmod(secret.c_str(), 0700), 0);
  ASSERT_TRUE(fs::create_directory(secret + "/inner"));
  ASSERT_EQ(chmod((secret + "/inner").c_str(), 01777), 0);
  std::ofstream(secret + "/inner/a.folded") << "hidden 5\n";
  const pid_t pid = fork();
  if (pid == 0) {
    if (chdir((secret + "/inner").c_str()) != 0) _exit(1);
    while (true) pause();
  }
  const std::string cwd = "/proc/" + std::to_string(pid) + "/cwd/";
  while (fs::read_symlink(cwd.substr(0, cwd.size() - 1)) != secret + "/inner") {
  }
  std::ofstream(folder_ + "/b.folded") << "f 1\n";
  EXPECT_NE(Run({"folded", "-i", cwd + "a.folded"}), 0);
  EXPECT_NE(Run({"folded", "-i", "b.folded", "-o", cwd + "made"}), 0);
  EXPECT_NE(Run({"report", "-i", "a.data", "-o", cwd + "made.html"}), 0);
  EXPECT_FALSE(fs::exists(secret + "/inner/made"));
  EXPECT_FALSE(fs::exists(secret + "/inner/made.html"));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  fs::remove_all(secret);
}

}  // namespace
}  // namespace profiler::tests

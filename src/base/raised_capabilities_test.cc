#include "src/base/raised_capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace profiler {
namespace {

constexpr uid_t kNobody = 65534;

// Returns the effective set of this thread.
uint64_t Effective() {
  std::ifstream status("/proc/thread-self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapEff:")) return std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  return ~uint64_t{0};
}

// InCopy runs `check` in a process of another user that has two capabilities, as `setcap …=ep`
// gives them. With Ambient::kYes they are ambient as well.
enum class Ambient : bool { kNo, kYes };
void InCopy(const std::function<bool()>& check, Ambient ambient = Ambient::kNo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a process capabilities";
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    data[0].permitted = data[0].effective = kCapSysPtrace | kCapIpcLock;
    if (ambient == Ambient::kYes) data[0].inheritable = data[0].permitted;
    if (syscall(SYS_capset, &header, data) != 0) _exit(2);
    for (const unsigned long capability : {CAP_SYS_PTRACE, CAP_IPC_LOCK}) {
      if (ambient == Ambient::kNo) break;
      if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) _exit(2);
    }
    LowerCapabilities();
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no capabilities here";
  EXPECT_EQ(status, 0);
}

TEST(RaisedCapabilities, AreEffectiveForAsLongAsTheObjectLives) {
  InCopy([] {
    bool is_right = Effective() == 0 && !RaisedCapabilities::Any();
    {
      const RaisedCapabilities raised(kCapSysPtrace | kCapSyslog);
      is_right &= Effective() == kCapSysPtrace && RaisedCapabilities::Any();
      {
        const RaisedCapabilities more(kCapIpcLock);
        is_right &= Effective() == (kCapSysPtrace | kCapIpcLock);
      }
      is_right &= Effective() == kCapSysPtrace;
    }
    return is_right && Effective() == 0 && !RaisedCapabilities::Any();
  });
}

TEST(RaisedCapabilities, AreTheThreadsOwn) {
  InCopy([] {
    bool is_right = true;
    std::thread other([&] {
      const RaisedCapabilities raised(kCapIpcLock);
      is_right &= Effective() == kCapIpcLock;
      std::thread([&] { is_right &= !RaisedCapabilities::Any(); }).join();
    });
    other.join();
    return is_right && Effective() == 0;
  });
}

TEST(RaisedCapabilities, AreNotRaisedOnceTheyAreForgotten) {
  InCopy([] {
    ForgetCapabilities();
    const RaisedCapabilities raised(kCapSysPtrace);
    return Effective() == 0 && RaisableCapabilities() == 0;
  });
}

TEST(RaisedCapabilities, OfAServiceStayInForce) {
  InCopy(
      [] {
        const RaisedCapabilities raised(kCapIpcLock);
        return Effective() == (kCapSysPtrace | kCapIpcLock) && !RaisedCapabilities::Any();
      },
      Ambient::kYes);
}

TEST(RaisedCapabilities, NothingChangesForRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  const uint64_t before = Effective();
  LowerCapabilities();
  const RaisedCapabilities raised(kCapSysPtrace);
  EXPECT_EQ(Effective(), before);
  EXPECT_EQ(RaisableCapabilities(), 0u);
}

}  // namespace
}  // namespace profiler

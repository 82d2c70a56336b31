// Lets another process get the pid of a recorded process and write false names for the recorded
// code. The profiler must not use these names.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;
constexpr uintptr_t kCode = 0x10000000;  // address of the generated code

std::string MapOf(pid_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

void WriteMap(pid_t pid, const std::string& function) {
  std::ofstream(MapOf(pid)) << std::hex << kCode << " 1000 " << function << "\n";
}

// Maps generated code that counts its argument down, and calls it for ever.
[[noreturn]] void RunGeneratedCode() {
#if defined(__x86_64__)
  const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};  // dec rdi; jnz; ret
#else
  const uint32_t code[] = {0xd1000400, 0xb5ffffe0, 0xd65f03c0};  // sub x0, x0, 1; cbnz; ret
#endif
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the map can name.
  void* const wanted = reinterpret_cast<void*>(kCode);
  void* const memory = mmap(wanted, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  std::memcpy(memory, code, sizeof(code));
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + sizeof(code));
  while (true) reinterpret_cast<void (*)(uint64_t)>(memory)(1'000'000);
}

class PidReuseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can choose the number of a process";
    folder_ = "/tmp/profiler-reuse-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const Finished probe = Profiler({"record", "-o", "probe.data", "--", "true"});
    if (probe.exit_code != 0) GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
  }
  void TearDown() override {
    End();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }
  std::string Report() {
    const Finished report =
        Profiler({"report", "--no-children", "-g", "none", "-s", "symbol", "--no-cache"});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    return report.out;
  }

  // Starts a process of another user with generated code named `function`. If `pid` is not 0, the
  // process must get this pid. Returns false if it does not start or gets another pid.
  bool Begin(const std::string& function, pid_t pid = 0) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    if (pid != 0) std::ofstream("/proc/sys/kernel/ns_last_pid") << pid - 1;
    child_ = fork();
    if (child_ == 0) {
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
      WriteMap(getpid(), function);
      (void)!write(ready[1], "r", 1);
      RunGeneratedCode();
    }
    close(ready[1]);
    char byte = 0;
    const bool began = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return began && (pid == 0 || child_ == pid);
  }
  void End() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    unlink(MapOf(child_).c_str());
    child_ = -1;
  }

  std::string folder_;
  pid_t child_ = -1;
};

TEST_F(PidReuseTest, NamesNothingOfTheProcessThatWasRecorded) {
  ASSERT_TRUE(Begin("recorded_code"));
  const pid_t pid = child_;
  const Finished record = Profiler(
      {"record", "-F", "999", "--embed", "none", "-p", std::to_string(pid), "--", "sleep", "0.3"});
  ASSERT_EQ(record.exit_code, 0) << record.err;
  EXPECT_THAT(Report(), HasSubstr("recorded_code"));
  End();
  // Tries several times, because an unrelated process may get the pid first.
  bool has_number = false;
  for (int i = 0; i < 50 && !has_number; ++i) {
    End();
    has_number = Begin("lie", pid);
  }
  if (!has_number) GTEST_SKIP() << "process " << pid << " is somebody else's now";
  EXPECT_THAT(Report(), Not(HasSubstr("lie")));
}

}  // namespace
}  // namespace profiler::tests

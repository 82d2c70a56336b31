// Checks which recordings an unprivileged user may make with a copy of the program that has
// capabilities. The copy is made as docs/security.md says.

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::Not;

constexpr gid_t kGroup = 54321;
constexpr int kCapPerfmon = 38;  // CAP_PERFMON, for older <linux/capability.h>

// Gives a file capabilities, as `setcap …=p FILE` does. Returns the reason if that fails; otherwise
// an empty text.
std::string GiveCapabilities(const std::string& path, std::initializer_list<int> capabilities) {
  vfs_cap_data data = {};
  data.magic_etc = VFS_CAP_REVISION_2;
  for (const int capability : capabilities) {
    data.data[capability / 32].permitted |= 1u << (capability % 32);
  }
  if (setxattr(path.c_str(), "security.capability", &data, XATTR_CAPS_SZ_2, 0) == 0) return "";
  return std::strerror(errno);
}

class CopyWithCapabilities : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file capabilities";
    folder_ = "/tmp/profiler-rights-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    // Lets every user write here, because an unprivileged user runs the copy.
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    struct statvfs file_system;
    ASSERT_EQ(statvfs(folder_.c_str(), &file_system), 0);
    if (file_system.f_flag & ST_NOSUID) GTEST_SKIP() << "/tmp is mounted with nosuid";
    copy_ = folder_ + "/profiler";
    fs::copy_file(Runfile("profiler"), copy_);
    ASSERT_EQ(chown(copy_.c_str(), 0, kGroup), 0);
    ASSERT_EQ(chmod(copy_.c_str(), 0750), 0);
    const std::string refused =
        GiveCapabilities(copy_, {kCapPerfmon, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_IPC_LOCK});
    if (!refused.empty()) GTEST_SKIP() << "no file can have capabilities here: " << refused;
    const Finished probe = tests::Run({copy_, "record", "-a", "--duration", "0.01"}, folder_);
    if (probe.exit_code != 0) GTEST_SKIP() << "nothing can be recorded: " << probe.err;
    fs::remove(folder_ + "/perf.data");
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  Finished AsNobody(const std::vector<std::string>& groups, std::vector<std::string> arguments) {
    std::vector<std::string> command = {"setpriv", "--reuid", "65534", "--regid", "65534"};
    command.insert(command.end(), groups.begin(), groups.end());
    // setpriv(1) has root's capabilities until it executes a program. So it executes a shell, and
    // the shell executes the copy.
    command.insert(command.end(), {"sh", "-c", R"(exec "$0" "$@")", copy_});
    command.insert(command.end(), arguments.begin(), arguments.end());
    return tests::Run(command, folder_);
  }
  Finished InGroup(std::vector<std::string> arguments) {
    return AsNobody({"--groups", std::to_string(kGroup)}, std::move(arguments));
  }

  std::string folder_, copy_;
};

TEST_F(CopyWithCapabilities, RecordsTheWholeSystemForAMemberOfItsGroup) {
  // Copies the program to a directory that all users may read, and runs it as root.
  const std::string program = folder_ + "/workload";
  fs::copy_file(Runfile("tests/live/workload"), program);
  const Running busy({program, "busy", "60"}, folder_);
  const Finished recorded =
      InGroup({"record", "-a", "-F", "499", "--duration", "0.5", "-o", "all.data"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Finished report =
      InGroup({"report", "-i", "all.data", "--no-children", "-g", "none", "-s", "comm,sym"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, ContainsRegex(R"(workload +\[\.\] .*Compute)"));
}

TEST_F(CopyWithCapabilities, GivesTheCommandThatIsRecordedNoCapabilities) {
  const Finished recorded =
      InGroup({"record", "-q", "-o", "cmd.data", "--", "grep", "CapEff", "/proc/self/status"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_EQ(recorded.out, "CapEff:\t0000000000000000\n");
}

TEST_F(CopyWithCapabilities, CannotBeStartedByOthers) {
  EXPECT_THAT(AsNobody({"--clear-groups"}, {"--version"}).exit_code, Not(0));
}

}  // namespace
}  // namespace profiler::tests

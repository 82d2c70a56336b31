#include "src/fleet/agent/process_table.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::agent {
namespace {

class ProcessTableTest : public testing::Test {
 protected:
  void InService(int pid, const std::string& service) {
    tree_.Write(absl::StrCat("proc/", pid, "/cgroup"),
                absl::StrCat("0::/system.slice/", service, ".service\n"));
  }
  void Gone(int pid) { std::filesystem::remove_all(tree_.path(absl::StrCat("proc/", pid))); }
  static std::string ServiceOf(ProcessTable& table, uint32_t pid) {
    return table.NamesOf(pid).service;
  }

  procfs::FakeTree tree_;
};

TEST_F(ProcessTableTest, AProcessThatIsGoneIsWhatItWasWhenItBeganToRun) {
  ProcessTable table(tree_.roots());
  InService(7, "web");
  table.Began(7, 1);
  table.Runs(7);
  table.Ended(7);
  Gone(7);
  EXPECT_EQ(ServiceOf(table, 7), "web");
}

TEST_F(ProcessTableTest, OneThatWasNeverSeenHasItsParentsNames) {
  ProcessTable table(tree_.roots());
  InService(7, "web");
  table.Runs(7);
  table.Began(8, 7);
  table.Runs(8);
  table.Began(9, 8);
  table.Ended(9);
  EXPECT_EQ(ServiceOf(table, 8), "web");
  EXPECT_EQ(ServiceOf(table, 9), "web");
}

TEST_F(ProcessTableTest, OneThatRunsIsWhatItIsNow) {
  ProcessTable table(tree_.roots());
  InService(7, "web");
  table.Runs(7);
  InService(7, "moved");
  EXPECT_EQ(ServiceOf(table, 7), "moved");
}

TEST_F(ProcessTableTest, ANumberThatComesAgainIsAnotherProcess) {
  ProcessTable table(tree_.roots());
  InService(7, "web");
  table.Runs(7);
  table.Ended(7);
  Gone(7);
  InService(5, "db");
  table.Runs(5);
  table.Began(7, 5);
  EXPECT_EQ(ServiceOf(table, 7), "db");
}

TEST_F(ProcessTableTest, AForkThatIsToldOfLateChangesNothing) {
  ProcessTable table(tree_.roots());
  InService(5, "starter");
  table.Runs(5);
  InService(7, "web");
  table.Runs(7);
  table.Began(7, 5);
  Gone(7);
  EXPECT_EQ(ServiceOf(table, 7), "web");
}

TEST_F(ProcessTableTest, ThoseThatHaveEndedAreForgottenAfterTheirWindowIsNamed) {
  ProcessTable table(tree_.roots());
  InService(7, "web");
  InService(8, "db");
  table.Runs(7);
  table.Runs(8);
  table.Ended(7);
  Gone(7);
  table.ForgetEnded();
  EXPECT_EQ(ServiceOf(table, 7), "web");
  table.ForgetEnded();
  EXPECT_EQ(ServiceOf(table, 7), "");
  EXPECT_EQ(ServiceOf(table, 8), "db");
  EXPECT_EQ(table.size(), 1u);
}

TEST_F(ProcessTableTest, ThreadsOfTheKernelAreOneService) {
  tree_.Write("proc/2/comm", "kthreadd\n").Write("proc/2/cgroup", "0::/\n");
  tree_.Write("proc/9/cgroup", "0::/\n");
  ProcessTable table(tree_.roots());
  table.Runs(2);
  table.Began(9, 2);
  table.Runs(9);
  EXPECT_EQ(ServiceOf(table, 0), "kernel");
  EXPECT_EQ(ServiceOf(table, 2), "kernel");
  EXPECT_EQ(ServiceOf(table, 9), "kernel");
}

TEST_F(ProcessTableTest, WhereTheyCannotBeSeenTheSecondProcessIsOneLikeOthers) {
  tree_.Write("proc/2/comm", "bash\n");
  InService(2, "shell");
  ProcessTable table(tree_.roots());
  table.Runs(2);
  table.Began(9, 2);
  EXPECT_EQ(ServiceOf(table, 2), "shell");
  EXPECT_EQ(ServiceOf(table, 9), "shell");
}

}  // namespace
}  // namespace profiler::agent

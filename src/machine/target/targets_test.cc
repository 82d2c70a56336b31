#include "src/machine/target/targets.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::target {
namespace {

TEST(TargetsTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_TRUE(CheckTargets({.command = {"ls"}}, "count").ok());
  EXPECT_TRUE(CheckTargets({.pids = {7}, .command = {"ls"}}, "count").ok());
  EXPECT_EQ(CheckTargets({}, "count").message().substr(0, 16), "nothing to count");
  EXPECT_EQ(CheckTargets({.tids = {7}, .system_wide = true}, "record").message(),
            "-a records everything, so -p and -t cannot be used with it");
}

TEST(TargetsTest, CpusAreThoseOnlineOrSomeOfThese) {
  procfs::FakeTree tree;
  tree.Write("sys/devices/system/cpu/online", "0-2,5\n");
  EXPECT_EQ(*ChooseCpus(tree.roots(), {}), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(*ChooseCpus(tree.roots(), {.cpus = {5, 1, 5}}), (std::vector<int>{1, 5}));
  EXPECT_EQ(ChooseCpus(tree.roots(), {.cpus = {4}}).status().message(),
            "CPU 4 is not online; online CPUs: 0,1,2,5");
}

TEST(TargetsTest, ThreadsHaveTheirProcess) {
  const auto threads = FindThreads({}, {.pids = {getpid()}, .tids = {gettid()}});
  ASSERT_TRUE(threads.ok());
  ASSERT_GE(threads->size(), 2u);
  EXPECT_EQ(threads->front().tid, getpid());
  EXPECT_EQ(threads->back().pid, getpid());
}

TEST(TargetsTest, WhatIsGoneIsNamed) {
  procfs::FakeTree tree;
  EXPECT_EQ(FindThreads(tree.roots(), {.pids = {4711}}).status().message(),
            "process 4711: No such process");
  EXPECT_EQ(FindThreads(tree.roots(), {.tids = {4712}}).status().message(),
            "thread 4712: No such process");
}

TEST(TargetsTest, AUserHasProcesses) {
  procfs::FakeTree tree;
  tree.Process(4711, 1, "mine", "");
  const std::string me = std::to_string(getuid());
  EXPECT_EQ(*ProcessesOfUser(tree.roots(), me), std::vector<pid_t>{4711});
  EXPECT_EQ(ProcessesOfUser(tree.roots(), "4294967290").status().message(),
            "no process of user '4294967290' runs");
  EXPECT_EQ(ProcessesOfUser(tree.roots(), "no-such-user").status().message(),
            "unknown user 'no-such-user'");
  EXPECT_TRUE(FindThreads(tree.roots(), {.pids = {4712}, .pids_may_be_gone = true})->empty());
}

TEST(TargetsTest, ProcessesHaveTheNamesOfTheirThreadFileAndCommand) {
  procfs::FakeTree tree;
  tree.Process(5010, 1, "postgres", "")
      .Process(5011, 5010, "worker", "")
      .Process(5012, 1, "other", "");
  tree.Write("proc/5011/cmdline", std::string("/usr/bin/postgres\0-D", 20));
  EXPECT_EQ(*ProcessesNamed(tree.roots(), "postgres"), (std::vector<pid_t>{5010, 5011}));
  EXPECT_EQ(*ProcessesNamed(tree.roots(), "[ow]*"), (std::vector<pid_t>{5011, 5012}));
  EXPECT_EQ(ProcessesNamed(tree.roots(), "postgre").status().message(),
            "no running process is named 'postgre'");
}

TEST(TargetsTest, DescendantsAreChildrenAndTheirChildrenThatRun) {
  procfs::FakeTree tree;
  tree.Process(5010, 1, "a", "").Process(5011, 5010, "b", "").Process(5009, 5011, "c", "");
  tree.Process(5012, 1, "d", "").Process(5013, 5010, "ended", "");
  tree.Write("proc/5013/status", "State:\tZ (zombie)\nTgid:\t5013\nPPid:\t5010\n");
  EXPECT_EQ(*DescendantsOf(tree.roots(), {5010}), (std::vector<pid_t>{5009, 5011}));
  EXPECT_EQ(*DescendantsOf(tree.roots(), {5010, 5011}), (std::vector<pid_t>{5009}));
  EXPECT_TRUE(DescendantsOf(tree.roots(), {5012})->empty());
}

}  // namespace
}  // namespace profiler::target

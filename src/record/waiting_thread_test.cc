#include "src/record/waiting_thread.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::record {
namespace {

constexpr uint32_t kPid = 7, kTid = 8;
constexpr uint64_t kSp = 0x7ffc0010, kPc = 0x401020;

class WaitingThreadTest : public testing::Test {
 protected:
  WaitingThreadTest() {
    Status('S', 5, 2);
    Syscall(kSp, kPc);
  }
  void Status(char state, int voluntary, int others) {
    tree_.Write("proc/7/task/8/status",
                absl::StrCat("Name:\tx\nState:\t", std::string(1, state),
                             " (as it is called)\nvoluntary_ctxt_switches:\t", voluntary,
                             "\nnonvoluntary_ctxt_switches:\t", others, "\n"));
  }
  void Syscall(uint64_t sp, uint64_t pc) {
    tree_.Write("proc/7/task/8/syscall", absl::StrCat("0 0x3 0x10 0x20 0x0 0x0 0xff 0x",
                                                      absl::Hex(sp), " 0x", absl::Hex(pc), "\n"));
  }
  // Reads the stack, which has 100 bytes. Calls `meanwhile` during the reading.
  bool Read(std::function<void()> meanwhile = [] {}) {
    return ReadWaitingStack(
        tree_.roots(), kPid, kTid, 1000,
        [&](uint64_t address, std::span<std::byte> bytes) {
          EXPECT_EQ(address, stack_.thread.sp);
          ++reads_;
          bytes[0] = std::byte{42};
          meanwhile();
          return size_t{100};
        },
        &stack_);
  }

  procfs::FakeTree tree_;
  WaitingStack stack_;
  int reads_ = 0;
};

TEST_F(WaitingThreadTest, ReadsTheStackOfAThreadThatWaits) {
  ASSERT_TRUE(Read());
  EXPECT_EQ(stack_.bytes.size(), 100);
  EXPECT_EQ(stack_.bytes[0], std::byte{42});
  EXPECT_EQ(stack_.thread, (WaitingThread{0, {3, 0x10, 0x20, 0, 0, 0xff}, kSp, kPc}));
}

TEST_F(WaitingThreadTest, ReadsItAgainIfTheThreadRanMeanwhile) {
  ASSERT_TRUE(Read([this] {
    if (reads_ == 1) Status('S', 6, 2);
  }));
  EXPECT_EQ(reads_, 2);
}

TEST_F(WaitingThreadTest, ReadsItAgainIfTheThreadWasPreemptedMeanwhile) {
  ASSERT_TRUE(Read([this] {
    if (reads_ == 1) Status('S', 5, 3);
  }));
  EXPECT_EQ(reads_, 2);
}

TEST_F(WaitingThreadTest, ReadsItAgainIfTheThreadWaitsElsewhere) {
  ASSERT_TRUE(Read([this] {
    if (reads_ == 1) Syscall(kSp + 16, kPc);
  }));
  EXPECT_EQ(stack_.thread.sp, kSp + 16);
}

TEST_F(WaitingThreadTest, GivesUpOnAThreadThatRunsAgainAndAgain) {
  EXPECT_FALSE(Read([this] { Status('S', 5 + reads_, 2); }));
  EXPECT_EQ(reads_, 3);
}

TEST_F(WaitingThreadTest, ReadsNothingOfAThreadThatRuns) {
  Status('R', 5, 2);
  EXPECT_FALSE(Read());
  Status('S', 5, 2);
  tree_.Write("proc/7/task/8/syscall", "running\n");
  EXPECT_FALSE(Read());
  EXPECT_EQ(reads_, 0);
}

TEST_F(WaitingThreadTest, ReadsNothingOfAThreadOfTheKernel) {
  Syscall(0, 0);
  EXPECT_FALSE(Read());
  EXPECT_EQ(reads_, 0);
}

TEST_F(WaitingThreadTest, ReadsThreadsThatAreStopped) {
  Status('T', 5, 2);
  EXPECT_TRUE(Read());
}

TEST_F(WaitingThreadTest, ReadsNothingOfAThreadThatBeginsToRunMeanwhile) {
  EXPECT_FALSE(Read([this] { Status('R', 5, 2); }));
}

TEST_F(WaitingThreadTest, ReadsNothingOfAThreadThatIsGone) {
  EXPECT_FALSE(Read([this] { std::filesystem::remove_all(tree_.path("proc/7")); }));
}

}  // namespace
}  // namespace profiler::record

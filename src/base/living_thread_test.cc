#include "src/base/living_thread.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace profiler {
namespace {

// A fake /proc whose processes and threads have a root directory while they live.
class LivingThreadTest : public testing::Test {
 protected:
  ~LivingThreadTest() override { std::filesystem::remove_all(proc_); }

  void Thread(uint32_t pid, uint32_t tid, bool lives) {
    const std::string process = proc_ + "/" + std::to_string(pid);
    std::filesystem::create_directories(process + "/task/" + std::to_string(tid));
    const std::string thread = proc_ + "/" + std::to_string(tid);
    std::filesystem::create_directories(lives ? thread + "/root" : thread);
  }

  const std::string proc_ = testing::TempDir() + "/living_thread";
};

TEST_F(LivingThreadTest, IsTheFirstOneWhileThatRuns) {
  Thread(7, 7, true);
  Thread(7, 8, true);
  EXPECT_EQ(LivingThreadOf(proc_, 7), 7u);
}

TEST_F(LivingThreadTest, IsAnotherOneOnceTheFirstHasEnded) {
  Thread(7, 7, false);
  Thread(7, 8, false);
  Thread(7, 9, true);
  EXPECT_EQ(LivingThreadOf(proc_, 7), 9u);
}

TEST_F(LivingThreadTest, IsTheFirstOneWhereNothingIsKnown) {
  EXPECT_EQ(LivingThreadOf(proc_, 7), 7u);
  Thread(7, 7, false);
  Thread(7, 8, false);
  EXPECT_EQ(LivingThreadOf(proc_, 7), 7u);
}

TEST_F(LivingThreadTest, IsThisOneOfThisProcess) {
  const auto self = static_cast<uint32_t>(getpid());
  EXPECT_EQ(LivingThreadOf("/proc", self), self);
}

}  // namespace
}  // namespace profiler

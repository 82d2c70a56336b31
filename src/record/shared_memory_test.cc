#include "src/record/shared_memory.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

class SharedMemoryTest : public testing::Test {
 protected:
  SharedMemoryTest()
      : records_(perf_event::SampleAttr(perf_event::kSampleTid | perf_event::kSampleTime)),
        shared_(records_.layout(), [this](uint32_t a, uint32_t b) {
          ++asked_;
          return same_.contains({a, b}) || same_.contains({b, a});
        }) {}

  void Fork(uint32_t parent, uint32_t child) { records_.By(parent, parent).Fork(child, child); }
  void Map(uint32_t pid, std::string_view path) {
    records_.By(pid, pid).Mmap2(0x1000, 0x1000, 0, path);
  }

  // Takes the records that were built since the last call, and returns the records that were added.
  std::string Added() {
    std::vector<std::byte> bytes;
    for (const auto record : records_.records()) shared_.Take(record, &bytes);
    records_.Clear();
    return Lines(bytes);
  }
  std::string Lines(std::span<const std::byte> bytes) const {
    std::string text;
    ForEachRecord(bytes, [&](perf_event::RawRecord record) {
      perf_event::Mmap2 mapping;
      EXPECT_TRUE(Decode(record, records_.layout(), &mapping));
      absl::StrAppend(&text, mapping.pid, "/", mapping.tid, " ", View(mapping.filename), " at ",
                      mapping.sample_id.time, "\n");
    });
    return text;
  }

  perf_event::RecordBuilder records_;
  std::set<std::pair<uint32_t, uint32_t>> same_;
  size_t asked_ = 0;
  SharedMemory shared_;
};

TEST_F(SharedMemoryTest, WhatOneProcessMapsIsMappedInTheOther) {
  same_ = {{7, 8}};
  Fork(7, 8);
  records_.At(5);
  Map(8, "/lib/a.so");
  Map(7, "/lib/b.so");
  EXPECT_EQ(Added(), "7/7 /lib/a.so at 5\n8/8 /lib/b.so at 5\n");
  EXPECT_EQ(asked_, 1u);
}

TEST_F(SharedMemoryTest, AnOrdinaryChildHasACopy) {
  Fork(7, 8);
  for (size_t i = 0; i < 100; ++i) {
    Map(8, "/lib/a.so");
    Map(7, "/lib/b.so");
  }
  EXPECT_EQ(Added(), "");
  EXPECT_EQ(asked_, 1u);
}

TEST_F(SharedMemoryTest, SeveralChildrenMayShareTheMemoryOfTheirParent) {
  same_ = {{7, 8}, {7, 9}, {9, 10}};
  Fork(7, 8);
  Fork(7, 9);
  Fork(9, 10);
  Fork(7, 11);
  Map(8, "/lib/a.so");
  EXPECT_EQ(Added(), "7/7 /lib/a.so at 0\n9/9 /lib/a.so at 0\n10/10 /lib/a.so at 0\n");
}

TEST_F(SharedMemoryTest, AnotherProgramHasAMemoryOfItsOwn) {
  same_ = {{7, 8}};
  Fork(7, 8);
  Map(8, "/lib/a.so");
  EXPECT_EQ(Added(), "7/7 /lib/a.so at 0\n");
  records_.By(8, 8).Comm("next", /*exec=*/true);
  Map(8, "/lib/b.so");
  Map(7, "/lib/c.so");
  EXPECT_EQ(Added(), "");
}

TEST_F(SharedMemoryTest, AProcessThatTakesTheNumberOfOneThatEndedIsAskedAboutAnew) {
  same_ = {{7, 8}};
  Fork(7, 8);
  Map(8, "/lib/a.so");
  EXPECT_EQ(Added(), "7/7 /lib/a.so at 0\n");
  records_.By(8, 8).Exit();
  same_.clear();
  Fork(7, 8);
  Map(8, "/lib/b.so");
  EXPECT_EQ(Added(), "");
  EXPECT_EQ(asked_, 2u);
}

TEST_F(SharedMemoryTest, ProcessesThatRanBeforeTheRecordingAreRelatives) {
  same_ = {{7, 8}};
  Fork(7, 8);
  Map(8, "/lib/of_before.so");
  for (const auto record : records_.records()) shared_.Observe(record);
  records_.Clear();
  EXPECT_EQ(asked_, 0u) << "their mappings all stand there";
  Map(8, "/lib/a.so");
  EXPECT_EQ(Added(), "7/7 /lib/a.so at 0\n");
}

TEST_F(SharedMemoryTest, RecordsOfOnePassCountInTheOrderOfTheirTimes) {
  same_ = {{7, 8}};
  SharedMemoryOfPasses passes(records_.layout(), [this](uint32_t a, uint32_t b) {
    return same_.contains({a, b}) || same_.contains({b, a});
  });
  records_.At(20);
  Map(8, "/lib/a.so");  // this happened on a CPU whose ring is read first
  records_.At(10);
  Fork(7, 8);
  for (const auto record : records_.records()) passes.Take(record);
  EXPECT_EQ(Lines(passes.EndPass()), "7/7 /lib/a.so at 20\n");
  EXPECT_EQ(Lines(passes.EndPass()), "");
}

int Wait(void* /*unused*/) {
  pause();
  return 0;
}

TEST(HaveSameMemoryTest, TellsASharedMemoryFromACopyAndFromNone) {
#if defined(__SANITIZE_THREAD__)
  // Its wrapper keeps the arguments on the stack of the caller, which goes on at the same time.
  GTEST_SKIP() << "ThreadSanitizer's clone(2) supports no shared memory";
#endif
  alignas(16) static std::byte stack[65536];
  const auto self = static_cast<uint32_t>(getpid());
  const pid_t sharer = clone(Wait, stack + sizeof(stack), CLONE_VM | SIGCHLD, nullptr);
  const pid_t copy = fork();
  if (copy == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(sharer, 0);
  if (!HaveSameMemory("/proc", self, self)) {
    kill(sharer, SIGKILL);
    kill(copy, SIGKILL);
    GTEST_SKIP() << "kcmp(2) is not allowed here";
  }
  EXPECT_TRUE(HaveSameMemory("/proc", self, static_cast<uint32_t>(sharer)));
  EXPECT_FALSE(HaveSameMemory("/proc", self, static_cast<uint32_t>(copy)));
  // Both processes end and stay zombies until they are waited for. Neither has any memory then.
  siginfo_t ended;
  for (const pid_t child : {sharer, copy}) {
    kill(child, SIGKILL);
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  }
  EXPECT_FALSE(HaveSameMemory("/proc", static_cast<uint32_t>(sharer), static_cast<uint32_t>(copy)));
  for (const pid_t child : {sharer, copy}) waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace profiler::record

#include "src/views/report/task_tree.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::report {
namespace {

constexpr std::string_view kHeadings = "#      pid      tid     ppid  comm\n";

class TaskTreeTest : public testing::Test {
 protected:
  TaskTreeTest()
      : records_(perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                        perf_event::kSampleTime)) {}

  // Returns the lines below the headings.
  std::string Tasks(TaskDetails details = TaskDetails::kNone) const {
    const std::string path = perf_data::TestPath("tasks");
    perf_data::WriteFile(
        path, perf_data::StreamOf({{records_.attr(), "cpu-clock", {}}}, records_.bytes()));
    auto recording = perf_data::Recording::Open(path);
    EXPECT_TRUE(recording.ok()) << recording.status();
    TaskTree tree;
    const auto take = [&](const perf_data::TimedRecord& timed) { tree.Take(**recording, timed); };
    EXPECT_TRUE((*recording)->ForEach(perf_data::Recording::Order::kTime, take).ok());
    const std::string text = tree.Text(details);
    EXPECT_EQ(text.substr(0, kHeadings.size()), kHeadings);
    return text.substr(std::min(text.size(), kHeadings.size()));
  }
  std::string Mappings() const { return Tasks(TaskDetails::kMappings); }

  perf_event::RecordBuilder records_;
};

TEST_F(TaskTreeTest, ThreadsAndProcessesStandBelowWhoStartedThem) {
  records_.At(1).By(1, 1).Comm("init");
  records_.At(2).By(1, 1).Fork(740, 740);
  records_.At(3).By(740, 740).Comm("sshd", true);
  records_.At(4).By(740, 740).Fork(740, 745).Fork(800, 800);
  records_.At(5).By(800, 800).Comm("bash", true);
  EXPECT_EQ(Tasks(),
            "         0        0       -1 |swapper\n"
            "         1        1       -1 | init\n"
            "       740      740        1 |  sshd\n"
            "       740      745      740 |   sshd\n"
            "       800      800      740 |   bash\n");
}

TEST_F(TaskTreeTest, RecordsCountInTheOrderOfTheirTimes) {
  records_.At(9).By(7, 7).Comm("last");
  records_.At(3).By(7, 7).Comm("first");
  EXPECT_EQ(Tasks(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | last\n");
}

TEST_F(TaskTreeTest, ARecordingWithoutThreadsHasTheIdleOneAlone) {
  EXPECT_EQ(Tasks(), "         0        0       -1 |swapper\n");
  EXPECT_EQ(Mappings(), "         0        0       -1 |swapper\n");
}

TEST_F(TaskTreeTest, AThreadWhoseProcessIsNotToldOfStandsByItself) {
  records_.At(1).By(7, 9).Comm("worker");
  EXPECT_EQ(Tasks(),
            "         0        0       -1 |swapper\n"
            "         7        9        7 | worker\n");
}

TEST_F(TaskTreeTest, EachThreadIsShownOnceThoughTwoStartedEachOther) {
  records_.At(1).By(7, 7).Fork(8, 8);
  records_.At(2).By(8, 8).Fork(7, 7);
  records_.At(3).By(9, 9).Fork(9, 9);
  EXPECT_EQ(Tasks(),
            "         0        0       -1 |swapper\n"
            "         9        9       -1 | \n"
            "         7        7        8 | \n"
            "         8        8        7 |  \n");
}

TEST_F(TaskTreeTest, NoThreadIsLostThoughEachOfThousandsStartedTheNext) {
  constexpr uint32_t kThreads = 5000;
  for (uint32_t tid = 1; tid < kThreads; ++tid) {
    records_.At(tid).By(tid, tid).Fork(tid + 1, tid + 1);
  }
  const std::string text = Tasks();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kThreads) << "the idle one, and 2 to 5000";
}

TEST_F(TaskTreeTest, NamesDoNotMoveTheCursor) {
  records_.At(1).By(7, 7).Comm("a\x1b[2J\nb");
  EXPECT_EQ(Tasks(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | a?[2J?b\n");
}

TEST_F(TaskTreeTest, AMappingTakesAwayWhatItLiesUpon) {
  records_.At(1).By(7, 7).Comm("cat", true);
  records_.At(2).Mmap2(0x1000, 0x4000, 0x10000, "/bin/cat");
  records_.At(3).Mmap2(0x2000, 0x1000, 0, "/lib/libc.so");
  EXPECT_EQ(Mappings(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | cat\n"
            "                                 1000-2000 r-xp 00010000 0 /bin/cat\n"
            "                                 2000-3000 r-xp 00000000 0 /lib/libc.so\n"
            "                                 3000-5000 r-xp 00012000 0 /bin/cat\n");
}

TEST_F(TaskTreeTest, AChildHasWhatItsParentHadMappedUntilItExecutesAnotherProgram) {
  records_.At(1).By(7, 7).Mmap2(0x1000, 0x1000, 0, "/bin/sh");
  records_.At(2).By(7, 7).Fork(8, 8).Fork(9, 9);
  records_.At(3).By(9, 9).Comm("ls", true);
  records_.At(4).By(7, 7).Fork(7, 10);
  EXPECT_EQ(Mappings(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | \n"
            "                                 1000-2000 r-xp 00000000 0 /bin/sh\n"
            "         8        8        7 |  \n"
            "                                  1000-2000 r-xp 00000000 0 /bin/sh\n"
            "         9        9        7 |  ls\n"
            "         7       10        7 |  \n");
}

TEST_F(TaskTreeTest, MappingsOfTheKernelAndWithoutBytesAreNone) {
  records_.At(1).By(7, 7).Mmap2(0x1000, 0, 0, "/empty");
  records_.At(2).Mmap2(~uint64_t{0xfff}, 0x2000, 0, "/beyond");
  records_.At(3).Mode(perf_event::kMiscKernel).Mmap(0xffffffff81000000, 0x1000, 0, "[kernel]");
  EXPECT_EQ(Mappings(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | \n");
}

TEST_F(TaskTreeTest, AFileWithABuildIdIsToldByIt) {
  const std::byte id[] = {std::byte{0xab}, std::byte{0x01}};
  records_.At(1).By(7, 7).Mmap2(0x1000, 0x1000, 0, "/bin/cat", id);
  records_.At(2).Mmap(0x5000, 0x1000, 0x2000, "/bin/old");
  EXPECT_EQ(Mappings(),
            "         0        0       -1 |swapper\n"
            "         7        7       -1 | \n"
            "                                 1000-2000 r-xp 00000000 ab01 /bin/cat\n"
            "                                 5000-6000 --xp 00002000 0 /bin/old\n");
}

}  // namespace
}  // namespace profiler::report

// Views print the same with any number of reading threads (--jobs). No recording is made, so this
// runs on every build machine.

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using perf_event::RecordBuilder;

class JobsTest : public testing::Test {
 protected:
  JobsTest() : folder_(testing::TempDir() + "/jobs") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string Path() const { return folder_ + "/perf.data"; }

  // Writes samples of many threads and call chains, in more bytes than a view reads with one thread
  // if --jobs is not given. Meanwhile processes begin and end, map code, and get names.
  void WriteRecording() const {
    constexpr int kSamples = 60'000, kInRound = 2'000;
    std::mt19937 random(1);
    auto writer = perf_data::Writer::Create(Path(), {{perf_data::UsualAttr(), "cycles", {1}}}, 0);
    ASSERT_TRUE(writer.ok());
    RecordBuilder records(perf_data::UsualAttr());
    records.Id(1).By(7, 7).At(1).Comm("program").Mmap2(0x10000, 0x10000, 0, "/gone/program");
    for (int i = 1; i <= kSamples; ++i) {
      const uint32_t pid = 7 + random() % 20;
      records.At(1000 * i).On(i % 4).By(pid, pid + random() % 3).Period(1 + random() % 100);
      if (i % 500 == 0) records.Comm(i % 1000 == 0 ? "worker" : "helper", /*exec=*/i % 3 == 0);
      if (i % 700 == 0) records.Mmap2(0x10000, 0x10000, 0, i % 2 == 0 ? "/gone/a" : "/gone/b");
      if (i % 900 == 0) records.Fork(7 + random() % 20, 7 + random() % 20);
      std::vector<uint64_t> chain = {perf_event::kContextUser};
      const size_t depth = 2 + random() % 12;
      while (chain.size() < depth) chain.push_back(0x10000 + random() % 8 * 0x100 * chain.size());
      records.Sample(chain[1], chain);
      if (i % kInRound != 0) continue;
      ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
      ASSERT_TRUE((*writer)->FinishRound().ok());
    }
    perf_data::Features features = perf_data::UsualFeatures();
    features.sample_time = {{1000, 1000 * kSamples}};
    ASSERT_TRUE((*writer)->Finish(features).ok());
    constexpr uintmax_t kReadByOneThread = 4 << 20;
    ASSERT_GT(fs::file_size(Path()), kReadByOneThread);
  }

  std::string OutputOf(std::vector<std::string> view, const std::vector<std::string>& jobs) const {
    view.insert(view.begin(), Runfile("profiler"));
    view.insert(view.end(), {"-i", Path()});
    view.insert(view.end(), jobs.begin(), jobs.end());
    const Finished finished = tests::Run(std::move(view), folder_);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  const std::string folder_;
};

TEST_F(JobsTest, OutputsAreTheSameWithAnyNumberOfThreads) {
  WriteRecording();
  const std::vector<std::vector<std::string>> views = {
      {"report", "--stdio"},
      {"report", "--stdio", "--children", "-s", "pid,tid,sym"},
      {"report", "--stdio", "--no-children", "-g", "none"},
      {"report", "--stdio", "-s", "time,cpu", "--time", "20%-70%"},
      {"report", "--json"},
      {"folded"},
      {"flamegraph", "-o", "-"},
      {"summary", "--json"},
      {"export", "--format", "speedscope", "-o", "-"},
  };
  for (const std::vector<std::string>& view : views) {
    const std::string one = OutputOf(view, {"--jobs", "1"});
    EXPECT_GT(one.size(), 500u) << view[0];
    for (const char* jobs : {"2", "16"}) {
      EXPECT_TRUE(OutputOf(view, {"--jobs", jobs}) == one) << view[0] << " --jobs " << jobs;
    }
  }
  EXPECT_TRUE(OutputOf(views[0], {}) == OutputOf(views[0], {"--jobs", "1"}));
}

}  // namespace
}  // namespace profiler::tests

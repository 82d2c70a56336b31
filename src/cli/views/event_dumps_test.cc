#include "src/cli/views/event_dumps.h"

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::cli {
namespace {

class EventDumpsTest : public testing::Test {
 protected:
  EventDumpsTest() {
    std::filesystem::remove_all(folder_), std::filesystem::create_directory(folder_);
  }

  std::string Contents(const std::string& name) const {
    return std::string(TextOf(perf_data::ReadFile(folder_ + "/" + name)));
  }
  // Closes the files and returns the printed lines, or the error.
  std::string Close(EventDumps& dumps) const {
    testing::internal::CaptureStdout();
    Output out("-");
    const absl::Status status = dumps.Close(out);
    EXPECT_TRUE(out.Close().ok());
    std::string said = testing::internal::GetCapturedStdout();
    return status.ok() ? said : std::string(status.message());
  }

  const std::string folder_ = testing::TempDir() + "/dumps";
  const std::string recording_ = folder_ + "/perf.data";
};

TEST_F(EventDumpsTest, TheSamplesOfEachEventAreInAFileOfTheirOwn) {
  EventDumps dumps(recording_);
  dumps.Open("page-faults");
  dumps.Write("cycles", "first\n");
  dumps.Write("cycles", "second\n");
  EXPECT_EQ(Close(dumps), "[ profiler script: Wrote 0.000 MB " + recording_ +
                              ".page-faults.dump (0 samples) ]\n"
                              "[ profiler script: Wrote 0.000 MB " +
                              recording_ + ".cycles.dump (2 samples) ]\n");
  EXPECT_EQ(Contents("perf.data.cycles.dump"), "first\nsecond\n");
  EXPECT_EQ(Contents("perf.data.page-faults.dump"), "");
}

TEST_F(EventDumpsTest, ANameDoesNotLeadToAnotherFolder) {
  EXPECT_EQ(DumpPath("a/perf.data", "../cpu/x\x1b[2J y/"), "a/perf.data..._cpu_x_[2J_y_.dump");
  EXPECT_EQ(DumpPath("-", "cycles"), "perf.data.cycles.dump");
}

TEST_F(EventDumpsTest, ARecordingIsNotWrittenOver) {
  const std::string path = DumpPath(recording_, "cycles");
  perf_data::WriteUsualRecording(path);
  const std::string before = Contents("perf.data.cycles.dump");
  EventDumps dumps(recording_);
  dumps.Write("cycles", "text\n");
  EXPECT_EQ(Close(dumps), path + " is a recording, which would be overwritten; move it first");
  EXPECT_TRUE(Contents("perf.data.cycles.dump") == before);
}

}  // namespace
}  // namespace profiler::cli

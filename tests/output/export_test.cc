// Exports files for other programs and imports them again. No recording is made, so this runs on
// every build machine.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using perf_event::RecordBuilder;
using testing::HasSubstr;

class ExportTest : public testing::Test {
 protected:
  ExportTest()
      : folder_(testing::TempDir() + "/export_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  // Writes 40 samples of two threads, with periods of 1 to 40.
  void WriteRecording(const std::string& name) const {
    auto writer =
        perf_data::Writer::Create(File(name), {{perf_data::UsualAttr(), "cpu-clock", {1}}}, 0);
    RecordBuilder records(perf_data::UsualAttr());
    records.By(7, 7).Id(1).At(1).Comm("program").By(7, 8).At(1).Comm("helper");
    for (uint64_t i = 1; i <= 40; ++i) {
      records.By(7, 7 + i % 2).At(10 + i).Period(i).Sample(0x1000 + i % 5 * 16);
    }
    EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
    EXPECT_TRUE((*writer)->Finish(perf_data::UsualFeatures()).ok());
  }

  Finished Profiler(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }

  std::string Contents(const std::string& name) const {
    std::ostringstream contents;
    contents << std::ifstream(File(name)).rdbuf();
    return contents.str();
  }

  // Returns the sum of the weights of folded stacks.
  uint64_t TotalOf(const std::string& file) const {
    const Finished folded = Profiler({"folded", "-i", File(file)});
    EXPECT_EQ(folded.exit_code, 0) << file << ": " << folded.err;
    std::istringstream lines(folded.out);
    uint64_t total = 0;
    for (std::string line; std::getline(lines, line);) {
      total += std::stoull(line.substr(line.rfind(' ') + 1));
    }
    return total;
  }

  const std::string folder_;
};

TEST_F(ExportTest, WhatIsReadAgainHasTheSamePeriods) {
  WriteRecording("perf.data");
  EXPECT_EQ(TotalOf("perf.data"), 820u);
  for (const std::string name : {"x.pb.gz", "x.speedscope.json", "x.folded", "x.data"}) {
    const Finished exported = Profiler({"export", "-i", File("perf.data"), "-o", File(name)});
    EXPECT_EQ(exported.exit_code, 0) << name << ": " << exported.err;
    EXPECT_EQ(TotalOf(name), 820u) << name;
  }
}

TEST_F(ExportTest, AFoldedExportIsWhatFoldedPrints) {
  WriteRecording("perf.data");
  const std::string folded = Profiler({"folded", "-i", File("perf.data")}).out;
  EXPECT_THAT(folded, HasSubstr("program;"));
  for (std::vector<std::string> arguments : {std::vector<std::string>{"export", "-o", "-"},
                                             {"export", "-o", File("x.folded")},
                                             {"flamegraph", "-o", File("x.folded")}}) {
    arguments.insert(arguments.end(), {"-i", File("perf.data")});
    if (arguments[2] == "-") arguments.insert(arguments.end(), {"--format", "folded"});
    const Finished written = Profiler(arguments);
    EXPECT_EQ(written.exit_code, 0) << written.err;
    EXPECT_EQ(arguments[2] == "-" ? written.out : Contents("x.folded"), folded) << arguments[0];
  }
}

TEST_F(ExportTest, AnExportedPictureIsWhatFlamegraphDraws) {
  WriteRecording("perf.data");
  const Finished drawn = Profiler({"flamegraph", "-i", File("perf.data"), "-o", File("x.svg")});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  const Finished exported = Profiler({"export", "-i", File("perf.data"), "-o", File("y.svg")});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(Contents("x.svg"), Contents("y.svg"));
}

TEST_F(ExportTest, AnExportWithoutSamplesIsAnError) {
  WriteRecording("perf.data");
  for (const std::string name : {"x.folded", "x.svg", "x.pb.gz"}) {
    const Finished exported =
        Profiler({"export", "-i", File("perf.data"), "--comm", "nobody", "-o", File(name)});
    EXPECT_EQ(exported.exit_code, 1) << name;
    EXPECT_FALSE(fs::exists(File(name))) << name;
  }
  EXPECT_EQ(Profiler({"folded", "-i", File("perf.data"), "--comm", "nobody"}).exit_code, 0);
}

TEST_F(ExportTest, TheFirefoxProfilerCountsSamples) {
  WriteRecording("perf.data");
  EXPECT_EQ(Profiler({"export", "-i", File("perf.data"), "-o", File("x.json.gz")}).exit_code, 0);
  const Finished stats = Profiler({"report", "-i", File("x.json.gz"), "--stats"});
  EXPECT_THAT(stats.out, HasSubstr("40")) << stats.err;
}

TEST_F(ExportTest, EveryFormatIsWrittenByItsName) {
  WriteRecording("perf.data");
  for (const std::string format : {"pprof", "firefox", "speedscope", "callgrind", "chrome", "otlp",
                                   "folded", "svg", "html", "perf.data"}) {
    const Finished exported =
        Profiler({"export", "-i", File("perf.data"), "--format", format, "-o", File("written")});
    EXPECT_EQ(exported.exit_code, 0) << format << ": " << exported.err;
    EXPECT_GT(fs::file_size(File("written")), 20u) << format;
    fs::remove(File("written"));
  }
}

TEST_F(ExportTest, ViewsWriteTheFilesThatTheirOutputNames) {
  WriteRecording("perf.data");
  for (const std::string view : {"report", "flamegraph"}) {
    const std::string file = view + ".pb.gz";
    EXPECT_EQ(Profiler({view, "-i", File("perf.data"), "-o", File(file)}).exit_code, 0);
    EXPECT_EQ(TotalOf(file), 820u) << view;
  }
}

TEST_F(ExportTest, ANameThatTellsNoFormatIsRefusedWithThoseThereAre) {
  WriteRecording("perf.data");
  const Finished refused = Profiler({"export", "-i", File("perf.data"), "-o", File("x.json")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("give --format with one of pprof (.pb.gz), firefox (.json.gz)"));
  EXPECT_FALSE(fs::exists(File("x.json")));
}

TEST_F(ExportTest, WhatNoSamplePassesIsNoFile) {
  WriteRecording("perf.data");
  const Finished refused =
      Profiler({"export", "-i", File("perf.data"), "--comms", "nobody", "-o", File("x.pb.gz")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("samples has command 'nobody'; there are: "));
  EXPECT_FALSE(fs::exists(File("x.pb.gz")));
}

TEST_F(ExportTest, AFilterThatNoSamplePassesLeavesTextEmptyAndPicturesUnwritten) {
  WriteRecording("perf.data");
  const auto nobody = [&](std::vector<std::string> command) {
    command.insert(command.end(), {"-i", File("perf.data"), "--comms", "nobody"});
    return Profiler(command);
  };
  for (const std::string view : {"report", "script", "folded", "summary"}) {
    const Finished shown = nobody({view});
    EXPECT_EQ(shown.exit_code, 0) << view;
    EXPECT_THAT(shown.err, HasSubstr("samples has command 'nobody'; there are: ")) << view;
  }
  for (const std::string file : {"x.svg", "x.html"}) {
    const Finished refused = nobody({"flamegraph", "-o", File(file)});
    EXPECT_EQ(refused.exit_code, 1) << file;
    EXPECT_THAT(refused.err, HasSubstr("samples has command 'nobody'; there are: ")) << file;
    EXPECT_FALSE(fs::exists(File(file))) << file;
  }
}

TEST_F(ExportTest, ARecordingIsNeverWrittenOver) {
  WriteRecording("perf.data");
  WriteRecording("other.data");
  const auto size = fs::file_size(File("perf.data"));
  for (const std::string format : {"pprof", "html", "perf.data"}) {
    const Finished refused =
        Profiler({"export", "-i", File("perf.data"), "--format", format, "-o", File("perf.data")});
    EXPECT_EQ(refused.exit_code, 2) << format;
    EXPECT_EQ(fs::file_size(File("perf.data")), size) << format;
  }
  // An older recording at the output's name is renamed to other.data.old, as `record` renames it.
  EXPECT_EQ(Profiler({"export", "-i", File("perf.data"), "-o", File("other.data")}).exit_code, 0);
  EXPECT_TRUE(fs::exists(File("other.data.old")));
}

}  // namespace
}  // namespace profiler::tests

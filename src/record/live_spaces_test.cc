#include "src/record/live_spaces.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "src/perf_event/record_builder.h"

namespace profiler::record {
namespace {

using perf_event::Attr;
using perf_event::RecordBuilder;

// No process of a machine has such an id.
constexpr uint32_t kNoSuchProcess = 100'000'000;

Attr UsualAttr() {
  return perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                perf_event::kSampleTime);
}

std::string CopyOfAProgram(const std::string& name) {
  // As /proc has it, without links and doubled slashes.
  const std::string path = std::filesystem::canonical(testing::TempDir()) / name;
  std::filesystem::copy_file("/proc/self/exe", path,
                             std::filesystem::copy_options::overwrite_existing);
  return path;
}

// Whether this process has the file mapped, which may have been removed.
bool HasMapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(path) != std::string::npos;
}

class LiveSpacesTest : public testing::Test {
 protected:
  void Take(const RecordBuilder& records) {
    for (const perf_event::RawRecord record : records.records()) spaces_.Take(record);
  }
  void Map(uint32_t pid, const std::string& path) {
    RecordBuilder records(UsualAttr());
    Take(records.By(pid, pid).Mmap2(0x1000, 0x1000, 0, path));
  }
  void End(uint32_t pid) {
    RecordBuilder records(UsualAttr());
    Take(records.By(pid, pid).Exit());
  }
  // More processes than are kept.
  void EndManyProcesses() {
    constexpr uint32_t kMany = 1000;
    for (uint32_t i = 1; i <= kMany; ++i) End(kNoSuchProcess + i);
  }

  LiveSpaces spaces_{perf_event::RecordLayout(UsualAttr()), "/proc", [](uint32_t) {}};
};

TEST_F(LiveSpacesTest, LetsGoOfAFileThatNoProcessHasMapped) {
  const std::string path = CopyOfAProgram("let_go");
  Map(kNoSuchProcess, path);
  unlink(path.c_str());
  EXPECT_TRUE(HasMapped(path));
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_FALSE(HasMapped(path));
}

TEST_F(LiveSpacesTest, KeepsAFileThatOneProcessStillHasMapped) {
  const std::string path = CopyOfAProgram("kept");
  const auto self = static_cast<uint32_t>(getpid());
  Map(kNoSuchProcess, path);
  Map(self, path);
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_TRUE(HasMapped(path));
}

TEST_F(LiveSpacesTest, OpensAFileAgainThatIsMappedAgain) {
  const std::string path = CopyOfAProgram("again");
  Map(kNoSuchProcess, path);
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_FALSE(HasMapped(path));
  Map(kNoSuchProcess + 5000, path);
  EXPECT_TRUE(HasMapped(path));
}

}  // namespace
}  // namespace profiler::record

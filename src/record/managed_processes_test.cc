#include "src/record/managed_processes.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "symbolize/v8/testing/node_builder.h"

namespace profiler::record {
namespace {

constexpr uint32_t kPid = 4'000'007;

class ManagedProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/managed-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    setenv("TMPDIR", directory_.c_str(), 1);
    dumps_.emplace(layout_);
  }
  void TearDown() override {
    dumps_.reset();
    std::filesystem::remove_all(directory_);
    unsetenv("TMPDIR");
  }

  std::string Write(const std::string& name, const std::vector<std::byte>& bytes) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  // True if a process that maps these files, one after the other, has a virtual machine.
  bool HasMachine(const std::vector<std::string>& paths) {
    reader::Readers readers;
    ManagedProcesses processes(files_, *dumps_, readers);
    for (const std::string& path : paths) {
      perf_event::Mmap2 mmap;
      mmap.pid = kPid;
      mmap.filename = path;
      processes.Mapped(mmap, symbolize::ImageKind::kUser);
    }
    return processes.Of(kPid, 0) != nullptr;
  }

  const symbolize::SymbolizerOptions files_;
  const perf_event::RecordLayout layout_{perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime)};
  std::optional<CodeDumps> dumps_;
  std::string directory_;
};

TEST_F(ManagedProcessesTest, NodeIsAProgramThatIsAMachine) {
  const std::string whole = Write("node", symbolize::v8::NodeImage(symbolize::v8::NodeVariables()));
  EXPECT_TRUE(HasMachine({whole}));
  EXPECT_TRUE(HasMachine({whole, "/lib/libc.so.6"}));
  EXPECT_FALSE(HasMachine({"/lib/libc.so.6"}));
}

// Debian builds Node.js as a small program and a library with V8.
TEST_F(ManagedProcessesTest, OrASmallOneWhoseLibraryIs) {
  const std::string program = Write("node", symbolize::v8::NodeImage({}));
  const std::string library =
      Write("libnode.so.115", symbolize::v8::NodeImage(symbolize::v8::NodeVariables()));
  EXPECT_FALSE(HasMachine({program}));
  EXPECT_TRUE(HasMachine({program, library}));
  EXPECT_TRUE(HasMachine({library, program}));
}

}  // namespace
}  // namespace profiler::record

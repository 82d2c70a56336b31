#include "src/profile/naming/recorded_machine.h"

#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"

namespace profiler::naming {
namespace {

namespace fs = std::filesystem;

using symbolize::RunningKernel;

uint64_t Now(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// A machine called "here" with Linux 6.1.0, and a recording that was just made there.
class RecordedMachineTest : public testing::Test {
 protected:
  RecordedMachineTest() {
    files_.proc_path = directory_ + "/proc";
    files_.sys_path = directory_ + "/sys";
    Write("proc/sys/kernel/hostname", "here\n");
    Write("proc/sys/kernel/osrelease", "6.1.0\n");
    Write("proc/sys/kernel/arch", "x86_64\n");
    Write("sys/kernel/notes", std::string("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0", 16) + "abcd");
    features_.hostname = "here";
    features_.osrelease = "6.1.0";
    features_.arch = "x86_64";
    features_.clock_data = perf_data::ClockData{.wall_clock_ns = Now(CLOCK_REALTIME)};
  }

  void Write(const std::string& path, const std::string& text) {
    const fs::path file = fs::path(directory_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  RunningKernel Kernel() {
    TellRecordedMachine(features_, &files_);
    return files_.running_kernel;
  }

  void AddBuildId(const std::string& filename, const std::string& id, uint16_t misc) {
    perf_data::BuildIdEntry entry{.misc = misc, .build_id = {}, .filename = filename};
    for (const char c : id) entry.build_id.push_back(static_cast<std::byte>(c));
    features_.build_ids.push_back(entry);
  }

  const std::string directory_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  symbolize::SymbolizerOptions files_;
  perf_data::Features features_;
};

TEST_F(RecordedMachineTest, TheRunningKernelIsRecordedIfTheMachineIsThisOneSinceItsStart) {
  EXPECT_EQ(Kernel(), RunningKernel::kIsRecorded);
  EXPECT_FALSE(files_.is_of_another_machine);
  features_.clock_data->wall_clock_ns -= Now(CLOCK_BOOTTIME) + 1'000'000'000;
  EXPECT_EQ(Kernel(), RunningKernel::kIsAnother) << "it was made before that";
  features_.clock_data.reset();
  EXPECT_EQ(Kernel(), RunningKernel::kMayBe) << "nothing says when it was made";
}

TEST_F(RecordedMachineTest, AnotherHostReleaseOrMachineHasAnotherKernel) {
  features_.osrelease = "6.1.1";
  EXPECT_EQ(Kernel(), RunningKernel::kIsAnother);
  EXPECT_FALSE(files_.is_of_another_machine);
  features_.osrelease = "6.1.0";
  features_.hostname = "there";
  EXPECT_EQ(Kernel(), RunningKernel::kIsAnother);
  EXPECT_TRUE(files_.is_of_another_machine);
  features_.hostname = "here";
  features_.arch = "riscv64";
  EXPECT_EQ(Kernel(), RunningKernel::kIsAnother);
  EXPECT_TRUE(files_.is_of_another_machine);
  features_ = {};
  EXPECT_EQ(Kernel(), RunningKernel::kIsAnother) << "nothing is known of it";
}

TEST_F(RecordedMachineTest, ABuildIdDecidesWhateverTheImageIsCalled) {
  for (const char* name :
       {"[kernel.kallsyms]", "[kernel.vmlinux]", "/boot/vmlinux-6.1.0",
        "/lib/modules/6.1.0/build/vmlinux", "/root/.debug/.build-id/61/626364"}) {
    features_ = {};
    AddBuildId("/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko", "none", perf_event::kMiscKernel);
    AddBuildId("/bin/cat", "none", perf_event::kMiscUser);
    AddBuildId(name, "abcd", perf_event::kMiscKernel);
    EXPECT_EQ(Kernel(), RunningKernel::kIsRecorded) << name;
    EXPECT_EQ(NameInBuildIds(features_.build_ids[2]), "[kernel.kallsyms]");
    features_.build_ids[2].build_id[0] = std::byte{};
    EXPECT_EQ(Kernel(), RunningKernel::kIsAnother) << name;
    EXPECT_EQ(files_.kernel_build_id, features_.build_ids[2].build_id);
  }
  EXPECT_EQ(NameInBuildIds(features_.build_ids[0]), features_.build_ids[0].filename);
  EXPECT_EQ(NameInBuildIds(features_.build_ids[1]), "/bin/cat");
}

TEST_F(RecordedMachineTest, BelowAnotherRootIsTheRecordedKernel) {
  features_ = {};
  files_.symfs = directory_;
  EXPECT_EQ(Kernel(), RunningKernel::kIsRecorded);
}

}  // namespace
}  // namespace profiler::naming

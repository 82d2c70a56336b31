#include "src/base/file_systems.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"

namespace profiler {
namespace {

using testing::HasSubstr;

constexpr uint64_t kProc = 0x9fa0, kTracefs = 0x74726163, kTmpfs = 0x01021994, kNoSuch = 0x4711;

TEST(FileSystems, OnesOnABlockDeviceHoldPrograms) {
  EXPECT_EQ(KindOfFileSystem(kNoSuch, makedev(259, 1)), FileSystemKind::kOfPrograms);
}

TEST(FileSystems, OnesWithoutADeviceHoldProgramsIfTheyAreListed) {
  EXPECT_EQ(KindOfFileSystem(kTmpfs, makedev(0, 30)), FileSystemKind::kOfPrograms);
  EXPECT_EQ(KindOfFileSystem(kNoSuch, makedev(0, 30)), FileSystemKind::kUnknown);
}

TEST(FileSystems, PseudoFileSystemsHoldNoneWhateverTheirDevice) {
  for (const uint64_t magic : {kProc, kTracefs}) {
    EXPECT_EQ(KindOfFileSystem(magic, makedev(0, 30)), FileSystemKind::kPseudo);
    EXPECT_EQ(KindOfFileSystem(magic, makedev(259, 1)), FileSystemKind::kPseudo);
  }
}

TEST(FileSystems, AFileOfProcIsNoProgramAndCannotBeTrusted) {
  TrustFileSystem("proc");
  TrustFileSystem("0x9FA0");
  const absl::Status refused = OpenRegularFile("/proc/self/status").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("/proc/self/status was not opened"));
  EXPECT_TRUE(OpenOwnFile("/proc/self/status").ok());
}

TEST(FileSystems, AProgramIsFoundByALinkInProc) {
  EXPECT_TRUE(OpenRegularFile("/proc/self/exe").ok());
}

TEST(FileSystems, AnUnknownOneIsNamedOnceAndOpenedIfItIsTrusted) {
  std::vector<std::string> warnings;
  WarnOfUnknownFileSystems([&](std::string_view line) { warnings.emplace_back(line); });
  EXPECT_FALSE(CheckTrusted(kNoSuch, "newfs", "/mnt/program").ok());
  EXPECT_FALSE(CheckTrusted(kNoSuch, "newfs", "/mnt/library").ok());
  EXPECT_FALSE(CheckTrusted(0x4712, "", "/proc/7/root/library").ok());
  EXPECT_THAT(warnings,
              testing::ElementsAre(
                  "/mnt/program was not opened: it lies on an unknown file system, newfs (0x4711); "
                  "if it holds programs, pass --trust-fs newfs",
                  "/proc/7/root/library was not opened: it lies on an unknown file system, 0x4712; "
                  "if it holds programs, pass --trust-fs 0x4712"));
  WarnOfUnknownFileSystems(nullptr);
  TrustFileSystem("newfs");
  EXPECT_TRUE(CheckTrusted(kNoSuch, "newfs", "/mnt/program").ok());
  TrustFileSystem("0X04712");
  EXPECT_TRUE(CheckTrusted(0x4712, "", "/mnt/program").ok());
  EXPECT_FALSE(CheckTrusted(0x4713, "", "/mnt/program").ok());
}

TEST(FileSystems, AMountIsFoundByItsNumber) {
  constexpr std::string_view kMounts =
      "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro\n"
      "220 22 0:41 / /home/mallory/x\\040y rw,nosuid - fuse.sshfs h:/\\040a "
      "rw,user_id=1000,group_id=1000\n"
      "23 22 0:42 / /srv rw - fuse rclone rw,user_id=0,group_id=0,allow_other\n";
  const auto facts_of = [&](std::string_view number) {
    const auto facts = FindMount(kMounts, number);
    if (!facts) return std::string("none");
    return facts->type + " " + (facts->fuse_user ? std::to_string(*facts->fuse_user) : "nobody");
  };
  EXPECT_EQ(facts_of("22"), "ext4 nobody");
  EXPECT_EQ(facts_of("220"), "fuse.sshfs 1000");
  EXPECT_EQ(facts_of("23"), "fuse 0");
  EXPECT_EQ(facts_of("2"), "none");
}

TEST(FileSystems, DescriptorsWithoutAFileAreNoPrograms) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd reading(ends[0]), writing(ends[1]);
  EXPECT_EQ(CheckHoldsPrograms(reading.get(), "pipe").code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace profiler

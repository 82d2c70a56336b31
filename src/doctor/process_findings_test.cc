#include "src/doctor/process_findings.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/pipe.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::doctor {
namespace {

ImageReport Stripped() {
  ImageReport image;
  image.path = "/usr/bin/server";
  image.build_id = "abcd";
  image.names = Names::kExportsOnly;
  image.cfi_share = 0.95;
  image.keeps_frame_pointers = false;
  return image;
}

TEST(DescribeImageTest, AStrippedImageSaysWhichNamesItHasAndHowToGetTheRest) {
  const Finding finding = DescribeImage(Stripped(), nullptr);
  EXPECT_EQ(finding.state, State::kLimited);
  EXPECT_EQ(finding.text,
            "symbols only of exported functions, call frame information, no frame pointers, "
            "build-id abcd");
  ASSERT_EQ(finding.remedies.size(), 1u);
  EXPECT_EQ(finding.remedies[0].text, "install its debug symbols, or build it unstripped");
  EXPECT_EQ(finding.remedies[0].command, "debuginfod-find debuginfo abcd");
  EXPECT_EQ(finding.remedies[0].risk, "The server learns the build-id of this image.");
}

TEST(DescribeImageTest, ADebugFileIsNamed) {
  ImageReport image = Stripped();
  image.names = Names::kDebugInfo;
  image.names_from = "/usr/lib/debug/.build-id/ab/cd.debug";
  const Finding finding = DescribeImage(image, nullptr);
  EXPECT_EQ(finding.state, State::kWorks);
  EXPECT_EQ(finding.text,
            "debug information from /usr/lib/debug/.build-id/ab/cd.debug, call frame information, "
            "no frame pointers, build-id abcd");
  EXPECT_TRUE(finding.remedies.empty());
}

TEST(DescribeImageTest, AnImageWithoutCallFrameInformationIsLimitedAtMost) {
  ImageReport image = Stripped();
  image.names = Names::kSymtab;
  image.cfi_share = 0;
  image.build_id = "";
  image.is_32_bit = true;
  const Finding finding = DescribeImage(image, nullptr);
  EXPECT_EQ(finding.state, State::kLimited);
  EXPECT_EQ(finding.text,
            "all symbols, no debug information, no call frame information, no frame pointers, "
            "32-bit, no build-id");
}

TEST(DescribeImageTest, CallFrameInformationOfAPartOfTheCodeIsALimit) {
  ImageReport image = Stripped();
  image.names = Names::kDebugInfo;
  image.cfi_share = 0.12;
  image.bytes_without_cfi = 1 << 20;
  const Finding finding = DescribeImage(image, nullptr);
  EXPECT_EQ(finding.state, State::kLimited);
  EXPECT_EQ(finding.text,
            "debug information, call frame information of 12 % of the code, no frame pointers, "
            "build-id abcd");
  image.bytes_without_cfi = 300;
  EXPECT_EQ(DescribeImage(image, nullptr).state, State::kWorks);
}

TEST(FindInProcessTest, ThisProgramIsFoundWithItsImages) {
  const auto group = FindInProcess({}, getpid(), true, {});
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_TRUE(group->title.starts_with(absl::StrCat("Process ", getpid(), " ("))) << group->title;
  const auto is_libc = [](const Finding& finding) {
    return finding.id == "image" && finding.name.find("libc.so") != std::string::npos;
  };
  const auto libc = std::ranges::find_if(group->findings, is_libc);
  ASSERT_NE(libc, group->findings.end());
  EXPECT_NE(libc->text.find("call frame information"), std::string::npos) << libc->text;
  EXPECT_NE(libc->text.find("build-id"), std::string::npos) << libc->text;
}

TEST(FindInProcessTest, AProcessThatDoesNotRunIsAnError) {
  procfs::FakeTree tree;
  EXPECT_EQ(FindInProcess(tree.roots(), 7, true, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(FindInProcessTest, FilesOfAProcessWithAnotherRootAreFound) {
  procfs::FakeTree tree;
  tree.Write("root/empty", "");
  const auto ready = MakePipe();
  ASSERT_TRUE(ready.ok()) << ready.status();
  const pid_t child = fork();
  if (child == 0) {
    const char result = chroot(tree.path("root").c_str()) == 0 ? 'y' : 'n';
    (void)!write(ready->write_end.get(), &result, 1);
    pause();
    _exit(0);
  }
  char result = 0;
  ASSERT_EQ(read(ready->read_end.get(), &result, 1), 1);
  const auto group = FindInProcess({}, child, true, {});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (result != 'y') GTEST_SKIP() << "only root may give a process another root directory";
  ASSERT_TRUE(group.ok()) << group.status();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto found = std::ranges::find(group->findings, program, &Finding::name);
  ASSERT_NE(found, group->findings.end());
  EXPECT_TRUE(found->text.starts_with("debug information, call frame information")) << found->text;
}

TEST(FindInProcessTest, PythonNeedsProgramsInTheKernel) {
  procfs::FakeTree tree;
  tree.Process(7, 1, "python3", "400000-500000 r-xp 00000000 08:01 9 /usr/bin/python3.11\n");
  const auto python = [&](bool loads_programs) {
    const auto group = FindInProcess(tree.roots(), 7, loads_programs, {});
    EXPECT_TRUE(group.ok()) << group.status();
    return *std::ranges::find(group->findings, "runtime", &Finding::id);
  };
  EXPECT_EQ(python(true).state, State::kWorks);
  EXPECT_EQ(python(true).text,
            "functions of CPython 3.8 to 3.13 are read at each sample if call chains are unwound "
            "(--call-graph dwarf)");
  EXPECT_EQ(python(false).state, State::kLimited);
  EXPECT_EQ(python(false).remedies.size(), 1u);
}

TEST(FindInProcessTest, GeneratedCodeWithoutAMapHasNoNames) {
  procfs::FakeTree tree;
  tree.Process(7, 1, "jit", "7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n");
  const auto group = FindInProcess(tree.roots(), 7, true, {});
  ASSERT_TRUE(group.ok()) << group.status();
  const auto found = std::ranges::find(group->findings, "generated-code", &Finding::id);
  ASSERT_NE(found, group->findings.end());
  EXPECT_EQ(found->text, "64 KiB of generated code, without a perf map: it has no names");
  tree.Write("proc/7/root/tmp/perf-7.map", "");
  const auto mapped = FindInProcess(tree.roots(), 7, true, {});
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(std::ranges::find(mapped->findings, "generated-code", &Finding::id)->text,
            "64 KiB of generated code, with a perf map");
}

TEST(FindInProgramTest, AScriptIsItsInterpretersProgram) {
  procfs::FakeTree tree;
  tree.Write("run.sh", "#! /bin/sh -e\necho\n");
  const auto group = FindInProgram(tree.path("run.sh"), {});
  ASSERT_TRUE(group.ok()) << group.status();
  ASSERT_GE(group->findings.size(), 2u);
  EXPECT_EQ(group->findings[0].text, "run by /bin/sh");
  EXPECT_EQ(group->findings[1].name, "/bin/sh");
}

TEST(FindInProgramTest, TheInterpreterOfAScriptMayBeAScript) {
  procfs::FakeTree tree;
  tree.Write("python3", "#!/bin/sh\n");
  tree.Write("run.py", "#!" + tree.path("python3") + "\n");
  const auto group = FindInProgram(tree.path("run.py"), {});
  ASSERT_TRUE(group.ok()) << group.status();
  ASSERT_GE(group->findings.size(), 3u);
  EXPECT_EQ(group->findings[0].text, "run by " + tree.path("python3"));
  EXPECT_EQ(group->findings[1].text, "run by /bin/sh");
  EXPECT_EQ(group->findings[2].name, "/bin/sh");
}

}  // namespace
}  // namespace profiler::doctor

#include "src/doctor/process_findings.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::doctor {
namespace {

ImageReport Stripped() {
  ImageReport image;
  image.path = "/usr/bin/server";
  image.build_id = "abcd";
  image.names = Names::kExportsOnly;
  image.has_cfi = true;
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
  image.has_cfi = false;
  image.build_id = "";
  image.is_32_bit = true;
  const Finding finding = DescribeImage(image, nullptr);
  EXPECT_EQ(finding.state, State::kLimited);
  EXPECT_EQ(finding.text,
            "all symbols, no debug information, no call frame information, no frame pointers, "
            "32-bit, no build-id");
}

TEST(FindInProcessTest, ThisProgramIsFoundWithItsImages) {
  const auto group = FindInProcess({}, getpid(), {});
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
  EXPECT_EQ(FindInProcess(tree.roots(), 7, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(FindInProcessTest, GeneratedCodeWithoutAMapHasNoNames) {
  procfs::FakeTree tree;
  tree.Process(7, 1, "jit", "7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n");
  const auto group = FindInProcess(tree.roots(), 7, {});
  ASSERT_TRUE(group.ok()) << group.status();
  const auto found = std::ranges::find(group->findings, "generated-code", &Finding::id);
  ASSERT_NE(found, group->findings.end());
  EXPECT_EQ(found->text, "64 KiB of generated code, without a perf map: it has no names");
  tree.Write("proc/7/root/tmp/perf-7.map", "");
  const auto mapped = FindInProcess(tree.roots(), 7, {});
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

}  // namespace
}  // namespace profiler::doctor

#include "src/fleet/agent/program_builds.h"

#include <gtest/gtest.h>

#include <array>

#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::agent {
namespace {

using perf_event::RecordBuilder;

constexpr std::array kShell = {std::byte{0xaa}, std::byte{0x01}};
constexpr std::array kCompiler = {std::byte{0xbb}, std::byte{0x02}};
constexpr std::array kLibrary = {std::byte{0xcc}, std::byte{0x03}};

class ProgramBuildsTest : public testing::Test {
 protected:
  ProgramBuilds Read() {
    ProgramBuilds builds(features_);
    for (const auto record : records_.records()) builds.Add(record, records_.layout());
    return builds;
  }

  perf_data::Features features_;
  RecordBuilder records_{perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid)};
};

TEST_F(ProgramBuildsTest, TheFirstMappingBehindAnExecIsTheExecutables) {
  records_.By(7, 7).Comm("sh", true).Mmap2(0x1000, 0x1000, 0, "/bin/sh", kShell);
  records_.Mmap2(0x9000, 0x1000, 0, "/lib/libc.so.6", kLibrary);
  EXPECT_EQ(Read().BuildIdOf(7, "sh"), "aa01");
  EXPECT_EQ(Read().BuildIdOf(8, "sh"), "");
}

TEST_F(ProgramBuildsTest, OfSeveralProgramsTheOneOfTheNameIsMeant) {
  records_.By(7, 7).Comm("sh", true).Mmap2(0x1000, 0x1000, 0, "/bin/sh", kShell);
  records_.Comm("cc1", true).Mmap2(0x1000, 0x1000, 0, "/usr/bin/cc1", kCompiler);
  EXPECT_EQ(Read().BuildIdOf(7, "sh"), "aa01");
  EXPECT_EQ(Read().BuildIdOf(7, "cc1"), "bb02");
  EXPECT_EQ(Read().BuildIdOf(7, "?"), "bb02");
}

TEST_F(ProgramBuildsTest, AnotherNameIsNoOtherProgram) {
  records_.By(7, 7).Comm("sh", true).Mmap2(0x1000, 0x1000, 0, "/bin/sh", kShell);
  records_.Comm("worker");
  records_.Mmap2(0x9000, 0x1000, 0, "/lib/libc.so.6", kLibrary);
  EXPECT_EQ(Read().BuildIdOf(7, "worker"), "aa01");
}

TEST_F(ProgramBuildsTest, AChildRunsWhatItsParentDoes) {
  records_.By(7, 7).Comm("sh", true).Mmap2(0x1000, 0x1000, 0, "/bin/sh", kShell);
  records_.Fork(8, 8).By(8, 8).Mmap2(0x9000, 0x1000, 0, "/lib/libc.so.6", kLibrary);
  EXPECT_EQ(Read().BuildIdOf(8, "sh"), "aa01");
}

TEST_F(ProgramBuildsTest, FilesWhoseMappingsHaveNoneAreAskedForByName) {
  features_.build_ids.push_back(
      {.build_id = {kShell.begin(), kShell.end()}, .filename = "/bin/sh"});
  records_.By(7, 7).Comm("sh", true).Mmap2(0x1000, 0x1000, 0, "/bin/sh");
  EXPECT_EQ(Read().BuildIdOf(7, "sh"), "aa01");
}

TEST_F(ProgramBuildsTest, WhatIsNoFileIsNoExecutable) {
  records_.By(7, 7).Comm("sh", true).Mmap2(0x500, 0x1000, 0, "[vdso]", kLibrary);
  records_.Mmap2(0x700, 0x1000, 0, "//anon").Mmap2(0x1000, 0x1000, 0, "/bin/sh", kShell);
  EXPECT_EQ(Read().BuildIdOf(7, "sh"), "aa01");
}

}  // namespace
}  // namespace profiler::agent

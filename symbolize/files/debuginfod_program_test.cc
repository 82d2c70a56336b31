#include "symbolize/files/debuginfod_program.h"

#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

constexpr std::array kId{std::byte{0xab}, std::byte{0x01}};

// Tests with a script in $PATH in place of debuginfod-find; each test writes the script.
class DebuginfodProgramTest : public testing::Test {
 protected:
  DebuginfodProgramTest() {
    setenv("PATH", (directory_ + ":" + path_).c_str(), 1);
    setenv("DEBUGINFOD_CACHE_PATH", (directory_ + "/cache").c_str(), 1);
  }
  ~DebuginfodProgramTest() override { setenv("PATH", path_.c_str(), 1); }

  absl::StatusOr<SourcedFile> FetchBy(const std::string& script, const KeepGoing& keep_going) {
    const std::string file = directory_ + "/find-it";
    std::ofstream(file) << "#!/bin/sh\n" << script;
    chmod(file.c_str(), 0700);
    const auto source = CreateDebuginfodProgram("find-it");
    if (!source.ok()) return source.status();
    return (*source)->Fetch(FileKind::kDebugInfo, kId, keep_going);
  }
  absl::StatusOr<SourcedFile> FetchBy(const std::string& script) {
    return FetchBy(script, [](uint64_t, uint64_t) { return true; });
  }

  const std::string path_ = std::getenv("PATH");
  const std::string directory_ = std::filesystem::canonical(TestDirectory());
};

TEST_F(DebuginfodProgramTest, TheFileIsWhereTheProgramSays) {
  const auto file = FetchBy(
      "echo \"Downloaded from http://server/$3\" >&2\n"
      "echo \"/cache/$*\"\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path, "/cache/-v debuginfo ab01");
  EXPECT_EQ(file->from, "http://server/ab01");
}

TEST_F(DebuginfodProgramTest, WhatNoServerHasIsNotFound) {
  const auto file = FetchBy("echo 'Server query failed: No such file or directory' >&2\nexit 1\n");
  EXPECT_TRUE(absl::IsNotFound(file.status())) << file.status();
}

TEST_F(DebuginfodProgramTest, AnyOtherFailureSaysWhat) {
  EXPECT_EQ(FetchBy("echo 'Server query failed: Connection refused' >&2\nexit 1\n").status(),
            absl::UnavailableError("debuginfod-find: Connection refused"));
  EXPECT_EQ(FetchBy("kill -9 $$\n").status(), absl::UnavailableError("debuginfod-find: failed"));
}

TEST_F(DebuginfodProgramTest, NoPasswordIsShown) {
  const auto file = FetchBy(
      "echo \"Downloaded from http://user:word@server/$3\" >&2\n"
      "echo \"/cache/$*\"\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->from, "http://server/ab01");
  EXPECT_EQ(FetchBy("echo 'Server query failed: no http://a:word@b/?c' >&2\nexit 1\n").status(),
            absl::UnavailableError("debuginfod-find: no http://b/"));
}

TEST_F(DebuginfodProgramTest, AMissAfterAFailureIsNotKept) {
  const std::string miss = directory_ + "/cache/ab01/debuginfo";
  const std::string leave = "mkdir -p ${0%/*}/cache/ab01\n: > ${0%/*}/cache/ab01/debuginfo\n";
  EXPECT_FALSE(FetchBy(leave + "echo 'Server query failed: Timer expired' >&2\nexit 1\n").ok());
  EXPECT_FALSE(std::filesystem::exists(miss));
  EXPECT_FALSE(
      FetchBy(leave + "echo 'Server query failed: No such file or directory' >&2\nexit 1\n").ok());
  EXPECT_TRUE(std::filesystem::exists(miss));
}

TEST_F(DebuginfodProgramTest, WhoDoesNotWaitEndsTheProgram) {
  const auto file = FetchBy("exec sleep 100\n", [](uint64_t, uint64_t) { return false; });
  EXPECT_TRUE(absl::IsCancelled(file.status())) << file.status();
}

TEST_F(DebuginfodProgramTest, WithoutTheProgramThereIsNoSource) {
  EXPECT_EQ(CreateDebuginfodProgram("no-such-program").status(),
            absl::UnimplementedError("no-such-program is not installed (Debian: debuginfod)"));
}

}  // namespace
}  // namespace profiler::symbolize

#include "src/machine/target/child_command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

namespace profiler::target {
namespace {

// Returns the program of a file with this text.
std::optional<std::string> ProgramOf(const std::string& text) {
  const std::string path = testing::TempDir() + "/script";
  std::ofstream(path) << text;
  return ProgramOfScript(path);
}

TEST(ChildCommandTest, AScriptIsRunByTheProgramOfItsFirstLine) {
  EXPECT_EQ(ProgramOf("#! /opt/python3.9 -u\nprint(1)\n"), "/opt/python3.9");
  EXPECT_EQ(ProgramOf("#!/bin/sh"), "/bin/sh");
}

TEST(ChildCommandTest, EnvIsFollowedToTheProgramThatItFinds) {
  const std::string shell = *FindProgram("sh");
  EXPECT_EQ(ProgramOf("#!/usr/bin/env sh\n"), shell);
  EXPECT_EQ(ProgramOf("#!/usr/bin/env -S LANG=C sh -e\n"), shell);
  EXPECT_EQ(ProgramOf("#!/usr/bin/env no-such-program\n"), "/usr/bin/env");
  EXPECT_EQ(ProgramOf("#!/usr/bin/env\n"), "/usr/bin/env");
}

TEST(ChildCommandTest, OtherFilesAreNoScripts) {
  EXPECT_EQ(ProgramOf("\x7f"
                      "ELF"),
            std::nullopt);
  EXPECT_EQ(ProgramOf(""), std::nullopt);
  EXPECT_EQ(ProgramOfScript("/no/such/file"), std::nullopt);
}

}  // namespace
}  // namespace profiler::target

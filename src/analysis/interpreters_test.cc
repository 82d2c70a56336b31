#include "src/analysis/interpreters.h"

#include <string_view>

#include "gtest/gtest.h"

namespace profiler::analysis {
namespace {

TEST(InterpretersTest, ProgramsAndTheirLibrariesAreKnownWithAndWithoutVersions) {
  for (const std::string_view name :
       {"node", "nodejs", "node-20", "libnode.so.108", "python3", "python3.11", "python3.13t",
        "python2.7", "libpython3.11.so.1.0", "libpython3.6m.so.1.0", "java", "libjvm.so", "ruby3.1",
        "libruby-3.1.so.3.1", "php8.2", "libluajit-5.1.so.2", "libcoreclr.so", "beam.smp",
        "node (deleted)"}) {
    EXPECT_TRUE(IsInterpreter(name)) << name;
  }
}

TEST(InterpretersTest, OtherFilesAreNone) {
  for (const std::string_view name :
       {"", "lib", "libc.so.6", "nodemon", "node_exporter", "node-gyp", "python-config", "javac",
        "libjava.so", "libpythonqt.so", "libpython3.11", "python3.11-config", "pythont",
        "_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "app"}) {
    EXPECT_FALSE(IsInterpreter(name)) << name;
  }
}

TEST(InterpretersTest, APythonTellsWhichItIs) {
  EXPECT_EQ(MinorOfPython3("python3.11"), 11u);
  EXPECT_EQ(MinorOfPython3("libpython3.12.so.1.0"), 12u);
  EXPECT_EQ(MinorOfPython3("python3.13t"), 13u);
  EXPECT_EQ(MinorOfPython3("libpython3.6m.so.1.0"), 6u);
}

TEST(InterpretersTest, WhatIsNoPython3OrDoesNotSayWhichIsNoVersion) {
  for (const std::string_view name : {"python3", "python2.7", "libpython3.so", "python3.x",
                                      "python3.", "python3.99999999999", "node", ""}) {
    EXPECT_EQ(MinorOfPython3(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace profiler::analysis

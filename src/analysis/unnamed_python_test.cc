#include "src/analysis/unnamed_python.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::EventId;

// The image "jit" has code from a map.
class UnnamedPythonTest : public testing::Test {
 protected:
  void Sample(uint32_t pid, const std::vector<std::string>& chain, uint64_t count = 1) {
    builder_.Thread(pid, pid).Sample("program", chain, count);
  }

  // Returns the result for the first event, such as "3.11 25 %".
  std::string Found() {
    for (profile::Image& image : builder_.profile().images) {
      image.kind = builder_.profile().text(image.name) == "jit" ? symbolize::ImageKind::kJit
                                                                : symbolize::ImageKind::kUser;
    }
    const auto found = FindUnnamedPython(builder_.profile(), EventId{0});
    if (!found) return "none";
    return "3." + std::to_string(found->minor) + " " +
           std::to_string(static_cast<int>(100 * found->part + 0.5)) + " %";
  }

  profile::HandmadeProfile builder_;
};

TEST_F(UnnamedPythonTest, APythonIsFoundByItsProgramOrItsLibraryAnywhereOnAStack) {
  Sample(1, {"main@app", "work@app"}, 2);
  Sample(2, {"main@python3.11", "eval@python3.11"});
  Sample(3, {"main@uwsgi", "eval@libpython3.11.so.1.0", "dot@_umath.so"});
  EXPECT_EQ(Found(), "3.11 50 %");
}

TEST_F(UnnamedPythonTest, AProcessWhoseFunctionsHaveNamesIsLeftOut) {
  Sample(1, {"main@python3.12", "eval@python3.12", "py::work:/a.py@jit", "eval@python3.12"}, 2);
  Sample(1, {"main@python3.12", "collect@python3.12"});
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, FunctionsThatWereReadAtTheSampleHaveNames) {
  Sample(1, {"main@python3.11", "module.work@jit", "dot@python3.11"});
  EXPECT_EQ(Found(), "3.11 100 %");
  const StringId file = builder_.profile().strings.Intern("/srv/a.py");
  for (profile::Line& line : builder_.profile().lines) line.file = file;
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, AnotherProcessIsNot) {
  Sample(1, {"main@python3.12", "eval@python3.12", "py::work:/a.py@jit"});
  Sample(2, {"main@python3.12", "eval@python3.12"});
  EXPECT_EQ(Found(), "3.12 50 %");
}

TEST_F(UnnamedPythonTest, WhatAnotherCompilerNamedIsNoFunctionOfPython) {
  Sample(1, {"main@python3.11", "eval@python3.11", "dot$1@jit"});
  EXPECT_EQ(Found(), "3.11 100 %");
}

TEST_F(UnnamedPythonTest, FunctionsThatTheRecorderFoundHaveNames) {
  Sample(1, {"main@python3.11", "importlib._bootstrap._find_and_load@[python]"});
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, OtherProgramsAreNone) {
  Sample(1, {"main@node", "work@jit"});
  Sample(2, {"main@app", "work@libpythonqt.so"});
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, ASmallPartIsNotWorthALine) {
  Sample(1, {"main@app", "work@app"}, 99);
  Sample(2, {"main@python3.11", "eval@python3.11"}, 1);
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, WithoutCallChainsNamesWouldNotHelp) {
  Sample(1, {"eval@python3.12"});
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedPythonTest, OfSeveralTheOneWithMostOfTheSamplesIsNamed) {
  Sample(1, {"main@python3.11", "eval@python3.11"}, 2);
  Sample(2, {"main@python3.13", "eval@python3.13"}, 3);
  EXPECT_EQ(Found(), "3.13 100 %");
}

TEST_F(UnnamedPythonTest, OfSeveralEventsTheOneIsTakenThatHasMostOfIt) {
  Sample(1, {"main@app", "work@app"}, 3);
  Sample(2, {"main@python3.11", "eval@python3.11"}, 1);
  builder_.Event("page-faults");
  Sample(2, {"main@python3.11", "eval@python3.11"}, 4);
  EXPECT_EQ(Found(), "3.11 25 %");
  const auto found = FindUnnamedPython(builder_.profile());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->part, 1);
}

TEST(UnnamedPythonTextTest, SaysWhatIsMissingAndWhatWouldNameIt) {
  const UnnamedPython python = {.minor = 13, .part = 0.25};
  EXPECT_EQ(MissingText(python), "Python 3.13 took 25.0 %, and its functions have no names");
  EXPECT_EQ(RemedyText(python),
            "record -g, as root or with CAP_BPF and CAP_PERFMON and without --no-interpreters, "
            "names them; started as python3 -X perf, or with PYTHONPERFSUPPORT=1, it would name "
            "them");
}

TEST(UnnamedPythonTextTest, SaysThatAnOldOneCannot) {
  EXPECT_EQ(RemedyText({.minor = 11, .part = 0.25}),
            "record -g, as root or with CAP_BPF and CAP_PERFMON and without --no-interpreters, "
            "names them; Python 3.12 or later, started as python3 -X perf, or with "
            "PYTHONPERFSUPPORT=1, would name them");
  EXPECT_EQ(RemedyText({.minor = 7, .part = 0.25}),
            "Python 3.12 or later, started as python3 -X perf, or with PYTHONPERFSUPPORT=1, would "
            "name them");
}

}  // namespace
}  // namespace profiler::analysis

// Makes programs in several languages, records them, and checks for whole call chains and right
// names. Compilers and runtimes differ in how they call, throw, and describe frames.
//
//   rustc     debug release stripped panic=abort, with its default linker and with lld
//   go        pure stripped pie; also each of these with C code
//   gfortran, ocamlopt, gdc, nim

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/live/made_program.h"

namespace profiler::tests {
namespace {

const std::array<Path, 2> kPathsOfRust = {
    Path{"_start", "main", "run_once", "outer_level", "inner_level", "hot_loop"},
    Path{"_start", "main", "run_once", "sort_by_callback", "sort_key"}};

struct RustBuild {
  std::string_view name, options;
  bool has_names;
};
constexpr std::array kRustBuilds = {RustBuild{"debug", "-g", true},
                                    RustBuild{"release", "-O", true},
                                    RustBuild{"stripped", "-O -C strip=symbols", false},
                                    RustBuild{"panic=abort", "-O -C panic=abort", true}};

class RustTest : public MadeProgramTest {
 protected:
  // Returns the command of rustc, from Debian's package or rustup.
  static std::string Rustc() { return "PATH=$PATH:" + Home() + "/.cargo/bin rustc"; }

  void Check(const RustBuild& build, bool by_lld) {
    const std::string what = "rustc " + std::string(by_lld ? "lld " : "") + std::string(build.name);
    if (!Make(what, Rustc() + " " + std::string(build.options) +
                        (by_lld ? " -C link-arg=-fuse-ld=lld" : "") + " -o linked " +
                        Runfile("tests/live/linked.rs"))) {
      return;
    }
    SCOPED_TRACE(what);
    const std::optional<Stacks> stacks = ExpectWholeChains(what);
    if (!stacks) return;
    if (build.has_names) return ExpectPaths(kPathsOfRust, *stacks);
    // In a stripped program no function has a name. Frames then show the image and a function's
    // start address. Some samples are in the dynamic linker, before the program begins.
    constexpr double kProgramPercent = 98;
    EXPECT_GE(stacks->ShareWithPrefix("[linked]"), kProgramPercent);
    const std::string report = Profiler({"report", "--no-children", "-g", "none"}).out;
    EXPECT_NE(report.find("linked+0x"), std::string::npos) << report;
  }
};

TEST_F(RustTest, ChainsAreWholeAndNamesRightHoweverItWasLinked) {
  if (Shell(Rustc() + " --version").exit_code != 0) {
    GTEST_SKIP() << "not installed: rustc (Debian: rustc)";
  }
  for (const bool by_lld : {false, true}) {
    if (by_lld && !IsInstalled("ld.lld", "lld")) continue;
    for (const RustBuild& build : kRustBuilds) Check(build, by_lld);
  }
  EXPECT_GT(recorded_, 0) << "not one could be linked";
}

struct GoBuild {
  std::string_view name, options;
  bool has_c;
};
constexpr std::array kGoBuilds = {GoBuild{"", "", false},
                                  GoBuild{"stripped", "-ldflags='-s -w'", false},
                                  GoBuild{"pie", "-buildmode=pie", false},
                                  GoBuild{"with C", "", true},
                                  GoBuild{"with C, stripped", "-ldflags='-s -w'", true},
                                  GoBuild{"with C, pie", "-buildmode=pie", true}};

// Symbols of functions in assembly language end with the calling convention, so their patterns end
// with *.
const std::array<Path, 4> kPathsOfGo = {
    Path{"runtime.goexit*", "main.main.func1", "main.runOnce", "main.outerLevel",
         "main.innerLevel"},
    Path{"runtime.goexit*", "main.main.func1", "main.runOnce", "main.sortByCallback", "sort.Slice",
         "main.sortByCallback.func1", "main.compareKeys"},
    Path{"runtime.goexit*", "main.runOnce.func1", "main.descend"},
    Path{"runtime.goexit*", "main.main.func1", "main.runOnce", "main.plant"}};

// C functions of stripped programs have no names.
const std::array<Path, 1> kPathsOfC = {Path{"runtime.goexit*", "main.main.func1", "main.runOnce",
                                            "main.callC", "main._Cfunc_c_sort*",
                                            "runtime.cgocall"}};

class GoTest : public MadeProgramTest {
 protected:
  // C code that a goroutine calls runs on the thread's stack. The goroutine's own stack is not
  // copied. The kernel reaches it only by following frame pointers. C code often uses the
  // frame pointer's register for something else, which cuts a quarter of these chains.
  static constexpr double kGoPercent = 96, kCPercent = 60;
  // Smallest percentage for Go's paths in programs with C. It is low because a function on these
  // paths is also called by C.
  static constexpr double kPathPercentBesideC = 60;

  void Check(const GoBuild& build) {
    const std::string what = "go " + std::string(build.name);
    if (build.has_c && !IsInstalled("gcc", "gcc")) return;
    const std::string sources =
        Runfile("tests/live/linked.go") + " " +
        Runfile(build.has_c ? "tests/live/linked_cgo.go" : "tests/live/linked_pure.go");
    if (!Make(what, "HOME='" + Home() + "' GO111MODULE=off GOFLAGS= go build " +
                        std::string(build.options) + " -o linked " + sources)) {
      return;
    }
    SCOPED_TRACE(what);
    const double least_percent = build.has_c ? kCPercent : kGoPercent;
    const std::optional<Stacks> stacks = ExpectWholeChains(what, least_percent);
    if (!stacks) return;
    ExpectPaths(kPathsOfGo, *stacks, build.has_c ? kPathPercentBesideC : kGoPercent);
    if (build.has_c) ExpectPaths(kPathsOfC, *stacks, kGoPercent);
  }
};

TEST_F(GoTest, ChainsAreWholeAndNamesRightOnTheStacksOfThreadsAndOfGoroutines) {
  if (!IsInstalled("go", "golang-go")) GTEST_SKIP() << "not installed: go (Debian: golang-go)";
  for (const GoBuild& build : kGoBuilds) Check(build);
  EXPECT_GT(recorded_, 0) << "not one could be made";
}

struct Language {
  std::string_view name, command, package;
  std::string_view source;
  std::string_view line;  // arguments of `command`; $1 is `source`
  std::vector<Path> paths;
  double least_percent = 99.5;  // smallest percentage of whole chains
};
const std::array kLanguages = {
    Language{"fortran",
             "gfortran",
             "gfortran",
             "linked.f90",
             "-O2 -o linked \"$1\"",
             {{"main", "__work_MOD_descend"}, {"main", "__work_MOD_write_numbers"}}},
    Language{"ocaml",
             "ocamlopt",
             "ocaml",
             "linked.ml",
             "-O3 -o linked -I . linked.ml",
             // "*" matches the separator after "Linked": "." in OCaml 5, "__" in OCaml 4.
             {{"main", "camlLinked*run_once*", "camlLinked*descend*"}},
             // C code runs on another stack. OCaml's stack may change before it is read.
             90},
    Language{"d",
             "gdc",
             "gdc",
             "linked.d",
             "-O2 -o linked \"$1\"",
             {{"run_once", "descend"},
              {"run_once", "throw_and_catch"},
              {"run_once", "sort_by_callback", "is_before"}}},
    Language{"nim",
             "nim",
             "nim",
             "linked.nim",
             "c -d:release --hints:off --nimcache:nimcache -o:linked \"$1\"",
             {{"main", "run_once", "descend"},
              {"main", "run_once", "sort_by_callback", "compare_keys"}}}};

class LanguagesTest : public MadeProgramTest {
 protected:
  void Check(const Language& language) {
    if (!IsInstalled(language.command, language.package)) return;
    const std::string what(language.name), source(language.source);
    // The compilers write their output beside the source.
    const std::string line = "cp '" + Runfile("tests/live/" + source) + "' . && set -- " + source +
                             " && " + std::string(language.command) + " " +
                             std::string(language.line);
    if (!Make(what, line)) return;
    SCOPED_TRACE(what);
    const std::optional<Stacks> stacks = ExpectWholeChains(what, language.least_percent);
    if (stacks) ExpectPaths(language.paths, *stacks);
  }
};

TEST_F(LanguagesTest, ChainsAreWholeAndNamesRight) {
  for (const Language& language : kLanguages) Check(language);
  if (recorded_ == 0) GTEST_SKIP() << "none of these compilers is installed";
}

}  // namespace
}  // namespace profiler::tests

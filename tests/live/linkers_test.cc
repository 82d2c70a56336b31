// Links one program in many ways, records each, and checks for whole call chains and right names.
// Linkers differ in how they lay segments out in the file and in memory.
//
//   compiler   gcc clang
//   linker     bfd gold lld mold
//   kind       pie no-pie static static-pie lto noseparate-code 64k-pages 2m-pages
//              -Os -O0 stripped no-header (no .eh_frame_hdr) debug-frame (only .debug_frame)
//
// A second program is made without call frame information, or with a C library that has none
// (musl). Both programs are also made with 32 bits (i386).
//
// For the C++ programs, a test run takes each linker with each kind, and the compilers in turn, so
// that every two values meet. With PROFILER_LINKERS=all in the environment it takes all
// combinations (bazel test --test_env=PROFILER_LINKERS=all --test_output=all). Programs that the
// machine cannot link are skipped with a message. Each result is printed on one line.

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/live/made_program.h"

namespace profiler::tests {
namespace {

struct Compiler {
  std::string_view name, command, package, options = "";
};
constexpr std::array kCompilers = {Compiler{"gcc", "g++", "g++"},
                                   Compiler{"clang", "clang++", "clang"}};
// Compilers for i386 and their Debian packages. Debian's multilib packages are not used, because
// they cannot be installed beside a compiler for another machine.
constexpr std::array kI386Compilers = {
    Compiler{"i386 gcc", "i686-linux-gnu-g++", "g++-i686-linux-gnu"},
    Compiler{"i386 clang", "clang++", "clang", "--target=i686-linux-gnu "}};

struct Linker {
  std::string_view name, command, package;
};
constexpr std::array kLinkers = {Linker{"bfd", "ld.bfd", "binutils"},
                                 Linker{"gold", "ld.gold", "binutils, or binutils-gold"},
                                 Linker{"lld", "ld.lld", "lld"}, Linker{"mold", "mold", "mold"}};

struct Kind {
  std::string_view name, compile, link;
};
constexpr std::array kKinds = {
    Kind{"pie", "-fPIE", "-pie"},
    Kind{"no-pie", "-fno-pie", "-no-pie"},
    Kind{"static", "-fno-pie", "-static"},
    Kind{"static-pie", "-fPIE", "-static-pie"},
    Kind{"lto", "-fPIE -flto", "-pie -flto"},
    Kind{"noseparate-code", "-fPIE", "-pie -Wl,-z,noseparate-code"},
    Kind{"64k-pages", "-fPIE", "-pie -Wl,-z,max-page-size=65536"},
    Kind{"2m-pages", "-fPIE", "-pie -Wl,-z,max-page-size=2097152"},
    Kind{"-Os", "-fPIE -Os", "-pie"},
    Kind{"-O0", "-fPIE -O0", "-pie"},
    Kind{"stripped", "-fPIE", "-pie -s"},
    Kind{"no-header", "-fno-exceptions -fPIE", "-pie -Wl,--no-eh-frame-hdr"},
    Kind{"debug-frame", "-fno-exceptions -fno-asynchronous-unwind-tables -g -fPIE", "-pie"}};

// Paths of the program's functions. The first function runs in one of the two threads.
const std::array kPathsOfCpp = {
    Path{"run_once", "outer_level", "middle_level", "inner_level"},
    Path{"run_once", "sort_by_callback", "compare_digits"},
    Path{"run_once", "sort_by_template", "is_before"},
    Path{"run_once", "throw_and_catch"},
    Path{"run_once", "raise_signal", "on_signal"},
    Path{"run_once", "write_numbers", "std::ostream& std::ostream::_M_insert<double>"}};
const std::array kStarts = {Path{"_start", "main", "run_once"}, Path{"run_in_thread", "run_once"}};

constexpr Kind kWithFramePointers{"frame pointers", "-fPIE -fno-omit-frame-pointer", "-pie"};

class CppTest : public MadeProgramTest {
 protected:
  void Check(const Compiler& compiler, const Linker& linker, const Kind& kind) {
    if (!IsInstalled(compiler.command, compiler.package) ||
        !IsInstalled(linker.command, linker.package)) {
      return;
    }
    const auto text = [](auto... parts) { return (std::string(parts) + ...); };
    const std::string what = text(compiler.name, " ", linker.name, " ", kind.name);
    const std::string object = text(folder_, "/", compiler.name, kind.compile, ".o");
    const std::string compile =
        text(compiler.command, " ", compiler.options, "-O2 -fomit-frame-pointer -w -pthread ",
             kind.compile, " -c -o '", object, "' ", Runfile("tests/live/linked.cc"));
    if (!std::filesystem::exists(object) && !Make(what, compile)) return;
    const std::string link = text(compiler.command, " ", compiler.options, "-fuse-ld=", linker.name,
                                  " ", kind.link, " -O2 -pthread -o linked '", object, "'");
    if (!Make(what, link)) return;
    SCOPED_TRACE(what);
    const std::optional<Stacks> stacks = ExpectWholeChains(what);
    if (!stacks || kind.name == "stripped") return;
    ExpectPaths(kPathsOfCpp, *stacks);
    double started = 0;
    for (const Path& start : kStarts) started += stacks->ShareOf(start);
    EXPECT_GE(started, stacks->ShareOf({"run_once"}) * kWholePercent / 100);
  }
};

TEST_F(CppTest, ChainsAreWholeAndNamesRightHoweverItWasLinked) {
  for (size_t l = 0; l < kLinkers.size(); ++l) {
    for (size_t k = 0; k < kKinds.size(); ++k) {
      for (size_t c = 0; c < kCompilers.size(); ++c) {
        // The compilers alternate. With `==` here, lld would get GCC's LTO objects, which only
        // GCC's linker plugin can compile.
        const bool is_its_turn = (l + k) % kCompilers.size() != c;
        if (TakesAll() || is_its_turn) Check(kCompilers[c], kLinkers[l], kKinds[k]);
      }
    }
  }
  EXPECT_GT(recorded_, 0) << "not one could be linked";
}

// A shell command that succeeds if i386 programs can be made and run. A kernel may lack i386 system
// calls.
constexpr const char* kSmallI386Program =
    "echo 'int main() {}' | i686-linux-gnu-gcc -xc - -o small && ./small";

TEST_F(CppTest, SoTheyAreOfProgramsWithThirtyTwoBits) {
  if (Shell(kSmallI386Program).exit_code != 0) {
    GTEST_SKIP() << "programs with 32 bits cannot be made, or do not run here";
  }
  for (const Compiler& compiler : kI386Compilers) {
    Check(compiler, kLinkers[0], kWithFramePointers);
    for (size_t k = 0; k < kKinds.size(); ++k) {
      for (size_t l = 0; l < kLinkers.size(); ++l) {
        const bool is_its_turn = k % kLinkers.size() == l;
        if (TakesAll() || is_its_turn) Check(compiler, kLinkers[l], kKinds[k]);
      }
    }
  }
  EXPECT_GT(recorded_, 0) << "not one could be linked";
}

struct FramelessBuild {
  std::string_view name, command, package, options;
  bool has_names;
};
constexpr std::string_view kWithoutFrames =
    "-fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer";
constexpr std::array kFramelessBuilds = {
    FramelessBuild{"musl", "musl-gcc", "musl-tools", "-O2", true},
    FramelessBuild{"musl static", "musl-gcc", "musl-tools", "-O2 -static", true},
    FramelessBuild{"musl stripped", "musl-gcc", "musl-tools", "-O2 -static -s", false},
    FramelessBuild{"gcc -O0", "gcc", "gcc", "-O0", true},
    FramelessBuild{"gcc -Os", "gcc", "gcc", "-Os", true},
    FramelessBuild{"gcc -O2", "gcc", "gcc", "-O2", true},
    FramelessBuild{"gcc stripped", "gcc", "gcc", "-O2 -s", false},
    FramelessBuild{"clang -O1", "clang", "clang", "-O1", true},
    FramelessBuild{"clang -O2", "clang", "clang", "-O2", true},
    FramelessBuild{"clang stripped", "clang", "clang", "-O2 -s", false}};

const std::array<Path, 3> kPathsOfC = {Path{"run_once", "sort_by_callback", "compare_numbers"},
                                       Path{"run_once", "by_table"},
                                       Path{"run_once", "on_the_stack"}};

constexpr std::array kI386FramelessBuilds = {
    FramelessBuild{"i386 gcc -O0", "i686-linux-gnu-gcc", "gcc-i686-linux-gnu", "-O0", true},
    FramelessBuild{"i386 gcc -O2", "i686-linux-gnu-gcc", "gcc-i686-linux-gnu", "-O2", true},
    FramelessBuild{"i386 gcc no-pie", "i686-linux-gnu-gcc", "gcc-i686-linux-gnu",
                   "-O2 -fno-pie -no-pie", true},
    FramelessBuild{"i386 gcc stripped", "i686-linux-gnu-gcc", "gcc-i686-linux-gnu",
                   "-O2 -static -s", false},
    FramelessBuild{"i386 clang -O2", "clang", "clang", "--target=i686-linux-gnu -O2", true},
    FramelessBuild{"i386 clang stripped", "clang", "clang", "--target=i686-linux-gnu -O2 -s",
                   false}};

class FramelessTest : public MadeProgramTest {
 protected:
  void Check(const FramelessBuild& build) {
    if (!IsInstalled(build.command, build.package)) return;
    const std::string what = "no frames, " + std::string(build.name);
    if (!Make(what, std::string(build.command) + " " + std::string(build.options) + " " +
                        std::string(kWithoutFrames) + " -pthread -o linked " +
                        Runfile("tests/live/linked.c"))) {
      return;
    }
    SCOPED_TRACE(what);
    const std::optional<Stacks> stacks = ExpectWholeChains(what);
    if (stacks && build.has_names) ExpectPaths(kPathsOfC, *stacks);
  }
};

TEST_F(FramelessTest, ChainsAreWholeWhereNothingIsSaidOfFrames) {
  for (const FramelessBuild& build : kFramelessBuilds) Check(build);
  EXPECT_GT(recorded_, 0) << "not one could be made";
}

TEST_F(FramelessTest, SoTheyAreOfProgramsWithThirtyTwoBits) {
  if (Shell(kSmallI386Program).exit_code != 0) {
    GTEST_SKIP() << "programs with 32 bits cannot be made, or do not run here";
  }
  for (const FramelessBuild& build : kI386FramelessBuilds) Check(build);
  EXPECT_GT(recorded_, 0) << "not one could be made";
}

}  // namespace
}  // namespace profiler::tests

// Links one program in the ways that there are, records each, and asks for whole call chains and
// right names: linkers differ in how they lay segments out in the file and in memory.
//
//   compiler   gcc clang                            rustc (debug, release, stripped)
//   linker     bfd gold lld mold                    its own choice, and lld
//   kind       pie no-pie static static-pie lto noseparate-code 64k-pages 2m-pages
//
// A second program is made without call frame information, or by a C library that has none (musl).
//
// Of the C++ programs a test run takes each linker with each kind, and the compilers in turn, so
// that every two values meet. With PROFILER_LINKERS=all in the environment it takes all (bazel test
// --test_env=PROFILER_LINKERS=all --test_output=all). What the machine cannot link is skipped, and
// said. The figures are printed, a line each.

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

constexpr double kWholePercent = 99.5;
// Fewer, and a single one would decide.
constexpr long kFewestChains = 400;
constexpr double kLeastShare = 2;  // percent, of a function that the program spends its time in

struct Compiler {
  std::string_view name, command, package;
};
constexpr std::array kCompilers = {Compiler{"gcc", "g++", "g++"},
                                   Compiler{"clang", "clang++", "clang"}};

struct Linker {
  std::string_view name, command, package;
};
constexpr std::array kLinkers = {Linker{"bfd", "ld.bfd", "binutils"},
                                 Linker{"gold", "ld.gold", "binutils, or binutils-gold"},
                                 Linker{"lld", "ld.lld", "lld"}, Linker{"mold", "mold", "mold"}};

struct Kind {
  std::string_view name, compile, link;
};
constexpr std::array kKinds = {Kind{"pie", "-fPIE", "-pie"},
                               Kind{"no-pie", "-fno-pie", "-no-pie"},
                               Kind{"static", "-fno-pie", "-static"},
                               Kind{"static-pie", "-fPIE", "-static-pie"},
                               Kind{"lto", "-fPIE -flto", "-pie -flto"},
                               Kind{"noseparate-code", "-fPIE", "-pie -Wl,-z,noseparate-code"},
                               Kind{"64k-pages", "-fPIE", "-pie -Wl,-z,max-page-size=65536"},
                               Kind{"2m-pages", "-fPIE", "-pie -Wl,-z,max-page-size=2097152"}};

// A sequence of functions, each of which calls the next one, or code that does.
using Path = std::vector<std::string_view>;

// What `profiler folded` says.
class Stacks {
 public:
  explicit Stacks(const std::string& folded) {
    std::istringstream lines(folded);
    for (std::string line; std::getline(lines, line);) {
      const size_t space = line.rfind(' ');
      Stack& stack = stacks_.emplace_back();
      stack.weight = std::atof(line.c_str() + space + 1);
      std::istringstream frames(line.substr(0, space));
      for (std::string frame; std::getline(frames, frame, ';');) stack.frames.push_back(frame);
    }
  }

  // Percent of the samples that came this way.
  double ShareOf(const Path& path) const {
    return ShareWhere([&](const Frames& frames) {
      auto from = frames.begin();
      for (const std::string_view function : path) {
        from = std::find(from, frames.end(), function);
        if (from++ == frames.end()) return false;
      }
      return true;
    });
  }
  // Percent of the samples with a frame whose name begins so.
  double ShareWithPrefix(std::string_view prefix) const {
    return ShareWhere([prefix](const Frames& frames) {
      return std::any_of(frames.begin(), frames.end(),
                         [prefix](const std::string& frame) { return frame.starts_with(prefix); });
    });
  }

 private:
  using Frames = std::vector<std::string>;  // root to leaf
  struct Stack {
    Frames frames;
    double weight = 0;
  };

  template <class Predicate>
  double ShareWhere(Predicate is_meant) const {
    double all = 0, meant = 0;
    for (const Stack& stack : stacks_) {
      all += stack.weight;
      if (is_meant(stack.frames)) meant += stack.weight;
    }
    return 100 * meant / all;
  }

  std::vector<Stack> stacks_;
};

class LinkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-linkers-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Runfile(const std::string& path) {
    const char* root = std::getenv("TEST_SRCDIR");
    return std::string(root ? root : ".") + "/profiler/" + path;
  }
  static bool TakesAll() {
    const char* const asked = std::getenv("PROFILER_LINKERS");
    return asked != nullptr && std::string_view(asked) == "all";
  }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return tests::Run(std::move(arguments), folder_);
  }
  Finished Shell(const std::string& line) { return tests::Run({"sh", "-c", line}, folder_); }

  // False where it is missing, which is printed once.
  bool IsInstalled(std::string_view command, std::string_view package) {
    const auto [known, is_new] = installed_.try_emplace(std::string(command), true);
    if (is_new) known->second = Shell("command -v " + known->first).exit_code == 0;
    if (is_new && !known->second) {
      std::printf("skipped: all with %s, which is not installed (Debian: %.*s)\n",
                  known->first.c_str(), static_cast<int>(package.size()), package.data());
    }
    return known->second;
  }

  // Prints why where it cannot be made.
  bool Make(const std::string& what, const std::string& line) {
    const Finished made = Shell(line);
    if (made.exit_code == 0) return true;
    std::printf("skipped: %s, which cannot be linked here: %s\n", what.c_str(),
                made.err.substr(0, made.err.find('\n')).c_str());
    return false;
  }

  // Records folder_/linked. Nothing, and prints why, where that does not run by itself either.
  std::optional<Stacks> ExpectWholeChains(const std::string& what) {
    const std::string program = folder_ + "/linked";
    const Finished recorded =
        Profiler({"record", "--call-graph", "dwarf", "-F", "1999", "--", program});
    if (recorded.exit_code != 0 && Shell(program).exit_code != 0) {
      std::printf("skipped: %s, a program that does not run here\n", what.c_str());
      return std::nullopt;
    }
    EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
    const std::string chains = Profiler({"report", "--chains"}).out;
    double percent = 0;
    long count = 0;
    EXPECT_EQ(
        std::sscanf(chains.c_str(), "# Call chains: %lf%% of %ld are whole", &percent, &count), 2);
    std::printf("%-26s %6.2f%% of %4ld whole\n", what.c_str(), percent, count);
    EXPECT_GE(count, kFewestChains) << chains;
    EXPECT_GE(percent, kWholePercent) << chains;
    ++recorded_;
    Stacks stacks(Profiler({"folded"}).out);
    EXPECT_LE(stacks.ShareWithPrefix("[unknown]"), 100 - kWholePercent);
    return stacks;
  }

  // Each path is that of many samples, and all that are in its last function came by it.
  static void ExpectPaths(std::span<const Path> paths, const Stacks& stacks) {
    for (const Path& path : paths) {
      const double share = stacks.ShareOf(path);
      EXPECT_GE(share, kLeastShare) << "percent came to " << path.back();
      EXPECT_GE(share, stacks.ShareOf({path.back()}) * kWholePercent / 100)
          << "percent of all in " << path.back();
    }
  }

  std::string folder_;
  int recorded_ = 0;

 private:
  std::map<std::string, bool> installed_;
};

const std::array<Path, 2> kPathsOfRust = {
    Path{"_start", "main", "run_once", "outer_level", "inner_level", "hot_loop"},
    Path{"_start", "main", "run_once", "sort_by_callback", "sort_key"}};

const std::array<Path, 4> kPathsOfCpp = {
    Path{"_start", "main", "run_once", "outer_level", "middle_level", "inner_level", "hot_loop"},
    Path{"_start", "main", "run_once", "sort_by_callback", "compare_digits"},
    Path{"_start", "main", "run_once", "sort_by_template", "is_before"},
    Path{"_start", "main", "run_once", "write_numbers",
         "std::ostream& std::ostream::_M_insert<double>"}};

class CppTest : public LinkersTest {
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
        text(compiler.command, " -O2 -fomit-frame-pointer -w ", kind.compile, " -c -o '", object,
             "' ", Runfile("tests/live/linked.cc"));
    if (!std::filesystem::exists(object) && !Make(what, compile)) return;
    const std::string link = text(compiler.command, " -fuse-ld=", linker.name, " ", kind.link,
                                  " -O2 -o linked '", object, "'");
    if (!Make(what, link)) return;
    SCOPED_TRACE(what);
    if (const auto stacks = ExpectWholeChains(what)) ExpectPaths(kPathsOfCpp, *stacks);
  }
};

TEST_F(CppTest, ChainsAreWholeAndNamesRightHoweverItWasLinked) {
  for (size_t l = 0; l < kLinkers.size(); ++l) {
    for (size_t k = 0; k < kKinds.size(); ++k) {
      for (size_t c = 0; c < kCompilers.size(); ++c) {
        // The other way round lld would be asked for what GCC leaves to be compiled when linking.
        const bool is_its_turn = (l + k) % kCompilers.size() != c;
        if (TakesAll() || is_its_turn) Check(kCompilers[c], kLinkers[l], kKinds[k]);
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

class FramelessTest : public LinkersTest {
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

struct RustBuild {
  std::string_view name, options;
  bool has_names;
};
constexpr std::array kRustBuilds = {RustBuild{"debug", "-g", true},
                                    RustBuild{"release", "-O", true},
                                    RustBuild{"stripped", "-O -C strip=symbols", false}};

class RustTest : public LinkersTest {
 protected:
  // As Debian's package or rustup has it.
  static std::string Rustc() {
    const char* const home = std::getenv("HOME");
    return "PATH=$PATH:" + std::string(home ? home : getpwuid(getuid())->pw_dir) +
           "/.cargo/bin rustc";
  }

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
    // Nothing has a name, but where its functions start is known. Some samples are the dynamic
    // linker's, before the program begins.
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

}  // namespace
}  // namespace profiler::tests

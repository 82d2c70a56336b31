// A test fixture that builds a program in one of several ways, records it, and checks for whole
// call chains and right names. Variants that this machine cannot build are skipped with a message.
// Each result is printed on one line.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {

inline constexpr double kWholePercent = 99.5;
inline constexpr double kPathPercent = 99;

// Functions from caller to callee; other frames may lie between them. '*' matches any characters.
using Path = std::vector<std::string_view>;

// The output of `profiler folded`.
class Stacks {
 public:
  explicit Stacks(const std::string& folded);

  // Returns the percentage of the weight of all stacks that is in stacks containing `path`.
  double ShareOf(const Path& path) const;
  // Returns the percentage of the weight of all stacks that is in stacks with a frame whose name
  // begins with `prefix`.
  double ShareWithPrefix(std::string_view prefix) const;

 private:
  using Frames = std::vector<std::string>;  // root to leaf
  struct Stack {
    Frames frames;
    double weight = 0;
  };

  template <class Predicate>
  double ShareWhere(Predicate is_meant) const;

  std::vector<Stack> stacks_;
};

// Each test has a folder, in which it builds the program `linked`.
class MadeProgramTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Returns the user's home directory, where tools installed by hand are. (Bazel does not pass
  // HOME.)
  static std::string Home();
  // True if all combinations are tested (PROFILER_LINKERS=all). By default, a selection is tested.
  static bool TakesAll();

  Finished Profiler(std::vector<std::string> arguments);
  Finished Shell(const std::string& line) { return tests::Run({"sh", "-c", line}, folder_); }

  // True if the command is installed. If not, the first call for it prints its Debian package.
  bool IsInstalled(std::string_view command, std::string_view package);
  // Runs the shell command `line`, which makes `what`. Returns false and prints the reason if it
  // fails.
  bool Make(const std::string& what, const std::string& line);

  // Records folder_/linked. Expects that at least `least_percent` of its call chains are whole.
  // Returns nothing and prints the reason if the program does not run.
  std::optional<Stacks> ExpectWholeChains(const std::string& what,
                                          double least_percent = kWholePercent);

  // Expects that each of `paths` has many samples, and that nearly all samples of a path's last
  // function are on that path.
  static void ExpectPaths(std::span<const Path> paths, const Stacks& stacks,
                          double least_percent = kPathPercent);

  std::string folder_;
  int recorded_ = 0;

 private:
  std::map<std::string, bool> installed_;
};

}  // namespace profiler::tests

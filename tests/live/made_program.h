// A test makes a program in one of the ways that there are, records it, and asks for whole call
// chains and right names. What the machine cannot make is skipped, and said. The figures are
// printed, a line each.

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

// A sequence of functions, each of which calls the next one, or code that does. A '*'
// stands for any characters.
using Path = std::vector<std::string_view>;

// What `profiler folded` says.
class Stacks {
 public:
  explicit Stacks(const std::string& folded);

  // Percent of the samples that came this way.
  double ShareOf(const Path& path) const;
  // Percent of the samples with a frame whose name begins so.
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

// Each test has a folder, where it makes the program `linked`.
class MadeProgramTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The user's directory, which has what was installed by hand; Bazel does not say it.
  static std::string Home();
  // Whether all combinations are asked for, not only a choice.
  static bool TakesAll();

  Finished Profiler(std::vector<std::string> arguments);
  Finished Shell(const std::string& line) { return tests::Run({"sh", "-c", line}, folder_); }

  // False where it is missing, which is printed once, with the Debian package that has it.
  bool IsInstalled(std::string_view command, std::string_view package);
  // Prints why where it cannot be made.
  bool Make(const std::string& what, const std::string& line);

  // Records folder_/linked. Nothing, and prints why, where that does not run by itself either.
  std::optional<Stacks> ExpectWholeChains(const std::string& what,
                                          double least_percent = kWholePercent);

  // Each path is that of many samples, and all that are in its last function came by it.
  static void ExpectPaths(std::span<const Path> paths, const Stacks& stacks,
                          double least_percent = kPathPercent);

  std::string folder_;
  int recorded_ = 0;

 private:
  std::map<std::string, bool> installed_;
};

}  // namespace profiler::tests

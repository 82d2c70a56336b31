#include "tests/live/made_program.h"

#include <fnmatch.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace profiler::tests {
namespace {

// With fewer chains, a single cut chain could fail the test.
constexpr long kFewestChains = 400;
// Smallest percentage of samples on a path. It is low because signal handlers have few samples.
constexpr double kLeastShare = 0.3;

bool IsMeant(const std::string& frame, std::string_view function) {
  return fnmatch(std::string(function).c_str(), frame.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace

Stacks::Stacks(const std::string& folded) {
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    Stack& stack = stacks_.emplace_back();
    stack.weight = std::atof(line.c_str() + space + 1);
    std::istringstream frames(line.substr(0, space));
    for (std::string frame; std::getline(frames, frame, ';');) stack.frames.push_back(frame);
  }
}

template <class Predicate>
double Stacks::ShareWhere(Predicate is_meant) const {
  double all = 0, meant = 0;
  for (const Stack& stack : stacks_) {
    all += stack.weight;
    if (is_meant(stack.frames)) meant += stack.weight;
  }
  return 100 * meant / all;
}

double Stacks::ShareOf(const Path& path) const {
  return ShareWhere([&](const Frames& frames) {
    auto from = frames.begin();
    for (const std::string_view function : path) {
      from = std::find_if(from, frames.end(),
                          [&](const std::string& frame) { return IsMeant(frame, function); });
      if (from++ == frames.end()) return false;
    }
    return true;
  });
}

double Stacks::ShareWithPrefix(std::string_view prefix) const {
  return ShareWhere([prefix](const Frames& frames) {
    return std::any_of(frames.begin(), frames.end(),
                       [prefix](const std::string& frame) { return frame.starts_with(prefix); });
  });
}

void MadeProgramTest::SetUp() {
  folder_ = "/tmp/profiler-made-XXXXXX";
  ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  const Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
  if (probe.exit_code != 0) {
    GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
  }
}

void MadeProgramTest::TearDown() { std::filesystem::remove_all(folder_); }

std::string MadeProgramTest::Home() {
  const char* const home = std::getenv("HOME");
  return home ? home : getpwuid(getuid())->pw_dir;
}

bool MadeProgramTest::TakesAll() {
  const char* const asked = std::getenv("PROFILER_LINKERS");
  return asked != nullptr && std::string_view(asked) == "all";
}

Finished MadeProgramTest::Profiler(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Runfile("profiler"));
  return tests::Run(std::move(arguments), folder_);
}

bool MadeProgramTest::IsInstalled(std::string_view command, std::string_view package) {
  const auto [known, is_new] = installed_.try_emplace(std::string(command), true);
  if (is_new) known->second = Shell("command -v " + known->first).exit_code == 0;
  if (is_new && !known->second) {
    std::printf("skipped: all with %s, which is not installed (Debian: %.*s)\n",
                known->first.c_str(), static_cast<int>(package.size()), package.data());
  }
  return known->second;
}

bool MadeProgramTest::Make(const std::string& what, const std::string& line) {
  const Finished made = Shell(line);
  if (made.exit_code == 0) return true;
  std::printf("skipped: %s, which cannot be linked here: %s\n", what.c_str(),
              made.err.substr(0, made.err.find('\n')).c_str());
  return false;
}

std::optional<Stacks> MadeProgramTest::ExpectWholeChains(const std::string& what,
                                                         double least_percent) {
  const std::string program = folder_ + "/linked";
  double percent = 0;
  long count = 0;
  const Finished recorded =
      Profiler({"record", "--call-graph", "dwarf", "-F", "1999", "--", program});
  if (recorded.exit_code != 0 && Shell(program).exit_code != 0) {
    std::printf("skipped: %s, a program that does not run here\n", what.c_str());
    return std::nullopt;
  }
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  const std::string chains = Profiler({"report", "--chains"}).out;
  EXPECT_EQ(std::sscanf(chains.c_str(), "# Call chains: %lf%% of %ld are whole", &percent, &count),
            2);
  std::printf("%-26s %6.2f%% of %4ld whole\n", what.c_str(), percent, count);
  EXPECT_GE(count, kFewestChains) << chains;
  EXPECT_GE(percent, least_percent) << chains;
  ++recorded_;
  Stacks stacks(Profiler({"folded"}).out);
  EXPECT_LE(stacks.ShareWithPrefix("[unknown]"), 100 - least_percent);
  return stacks;
}

void MadeProgramTest::ExpectPaths(std::span<const Path> paths, const Stacks& stacks,
                                  double least_percent) {
  for (const Path& path : paths) {
    const double share = stacks.ShareOf(path);
    EXPECT_GE(share, kLeastShare) << "percent came to " << path.back();
    // Both shares are percentages of all samples. If they were relative to a function with few
    // samples, a single stray sample would fail the test.
    EXPECT_GE(share, stacks.ShareOf({path.back()}) - (100 - least_percent))
        << "percent came this way, but more were in " << path.back();
  }
}

}  // namespace profiler::tests

#include "src/cli/terminal/output.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

// Writes to a closed pipe. Ignores SIGPIPE, as write_signals.h does for the whole program.
void WriteToAReaderWhoLeft() {
  constexpr int kWentOn = 3;
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (pipe(ends) != 0) std::_Exit(kWentOn);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  Output output("-");
  const std::string text(1 << 20, 'x');
  output.Write(text);
  std::_Exit(kWentOn);
}

TEST(OutputTest, AReaderWhoLeavesEndsTheProgram) {
  EXPECT_EXIT(WriteToAReaderWhoLeft(), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace profiler::cli

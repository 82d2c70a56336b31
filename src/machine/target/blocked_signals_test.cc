#include "src/machine/target/blocked_signals.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"

namespace profiler::target {
namespace {

TEST(BlockedSignalsDeathTest, TheNextSignalEndsTheProcessWhateverItDoes) {
  EXPECT_EXIT(
      {
        auto signals = BlockStopSignals();
        raise(SIGTERM);
        if (!signals.ok() || !signals->Take()) _exit(1);
        signals->EndAtNext();
        // Another thread sends the signal repeatedly, while this thread is busy.
        std::thread others([] {
          while (true) kill(getpid(), SIGTERM), poll(nullptr, 0, 20);
        });
        while (true) pause();
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(BlockedSignalsDeathTest, TheSameSignalTwiceAtOnceIsOne) {
  EXPECT_EXIT(
      {
        {
          auto signals = BlockStopSignals();
          raise(SIGTERM);
          if (!signals.ok() || !signals->Take()) _exit(1);
          signals->EndAtNext();
          kill(getpid(), SIGTERM);  // raise() would send it only to this thread
          sigset_t waiting;
          do {
            sigpending(&waiting);
          } while (sigismember(&waiting, SIGTERM) != 0);
        }
        _exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(BlockedSignalsTest, SignalsThatEndARecordingAreTaken) {
  auto signals = BlockStopSignals();
  ASSERT_TRUE(signals.ok()) << signals.status();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU}) {
    raise(number);
    const auto taken = signals->Take();
    ASSERT_TRUE(taken) << number;
    EXPECT_EQ(taken->number, number);
  }
}

TEST(BlockedSignalsTest, ASignalForAnotherPurposeIsNotTaken) {
  constexpr int kSwitch[] = {SIGUSR2};
  auto others = BlockedSignals::Block(kSwitch);
  auto signals = BlockStopSignals();
  ASSERT_TRUE(others.ok() && signals.ok());
  raise(SIGUSR2);
  EXPECT_FALSE(signals->Take());
  EXPECT_TRUE(others->Take());
}

TEST(BlockedSignalsTest, ACommandGetsASignalThatEndsIt) {
  EXPECT_EQ(SignalForCommand(SIGINT), SIGINT);
  EXPECT_EQ(SignalForCommand(SIGUSR1), SIGTERM);
}

}  // namespace
}  // namespace profiler::target

#include "src/machine/target/run_watch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::target {
namespace {

class RunWatchTest : public testing::Test {
 protected:
  RunWatchTest() : watch_(std::make_unique<RunWatch>(io_, [this](RunEnd end) { End(end); })) {}

  void End(RunEnd end) {
    switch (end) {
      case RunEnd::kSignal:
        absl::StrAppend(&calls_, "signal ", watch_->signal(), "\n");
        break;
      case RunEnd::kCommandExited:
        calls_ += "command exited\n";
        break;
      case RunEnd::kTargetsExited:
        calls_ += "targets exited\n";
        break;
      case RunEnd::kRequested:
        calls_ += "requested\n";
        break;
    }
    io_.stop();
  }

  std::unique_ptr<Command> Start(const std::string& script) {
    auto command = Command::Fork({"sh", "-c", script}, false);
    EXPECT_TRUE(command.ok()) << command.status();
    EXPECT_TRUE((*command)->Start().ok());
    return *std::move(command);
  }

  ControlHandlers Handlers(bool enable_works = true) {
    return {.enable =
                [this, enable_works] {
                  calls_ += "enable\n";
                  return enable_works;
                },
            .disable =
                [this] {
                  calls_ += "disable\n";
                  return true;
                },
            .on_unknown = [this](std::string_view) { calls_ += "unknown\n"; }};
  }

  boost::asio::io_context io_;
  std::string calls_;
  std::unique_ptr<RunWatch> watch_;
};

TEST_F(RunWatchTest, ASignalEndsTheRunAndReachesTheCommand) {
  const auto command = Start("exec sleep 1000");
  ASSERT_TRUE(watch_->WatchSignals().ok());
  ASSERT_TRUE(watch_->WatchEnd(command.get(), {.command = {"sh"}}).ok());
  raise(SIGUSR1);
  io_.run();
  EXPECT_EQ(calls_, absl::StrCat("signal ", SIGUSR1, "\n"));
  watch_->Stop();
  EXPECT_EQ(command->Reap()->signal, SIGTERM);
}

TEST_F(RunWatchTest, AHangupDoesNotEndARunThatHandlesIt) {
  constexpr std::array kSignals = {SIGHUP, SIGTERM};
  ASSERT_TRUE(watch_->WatchSignals(kSignals, [this] { calls_ += "hangup\n"; }).ok());
  raise(SIGHUP);
  io_.poll();
  raise(SIGHUP);
  io_.poll();
  EXPECT_EQ(calls_, "hangup\nhangup\n");
  raise(SIGTERM);
  io_.run();
  EXPECT_EQ(calls_, absl::StrCat("hangup\nhangup\nsignal ", SIGTERM, "\n"));
}

TEST_F(RunWatchTest, TheEndOfTheCommandEndsTheRunEvenIfItsTargetsGoOn) {
  const auto command = Start("exit 3");
  ASSERT_TRUE(watch_->WatchEnd(command.get(), {.pids = {getpid()}, .command = {"sh"}}).ok());
  io_.run();
  EXPECT_EQ(calls_, "command exited\n");
  EXPECT_EQ(watch_->signal(), 0);
  // The descriptor still belongs to the command.
  watch_.reset();
  EXPECT_TRUE(command->EndsWithin(std::chrono::milliseconds(0)));
  command->AskToEnd();
  const auto end = command->Reap();
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->ended_by_us);
}

TEST_F(RunWatchTest, ACommandThatRunsOnIsAskedToEnd) {
  const auto command = Start("exec sleep 1000");
  command->AskToEnd();
  const auto end = command->Reap();
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_TRUE(end->ended_by_us);
}

TEST_F(RunWatchTest, TheEndOfTheLastTargetEndsTheRun) {
  const pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  ASSERT_TRUE(watch_->WatchEnd(nullptr, {.pids = {pid}}).ok());
  io_.poll();
  EXPECT_EQ(calls_, "");
  kill(pid, SIGKILL);
  io_.restart();
  io_.run();
  EXPECT_EQ(calls_, "targets exited\n");
  waitpid(pid, nullptr, 0);
}

TEST_F(RunWatchTest, TheWholeSystemDoesNotEnd) {
  ASSERT_TRUE(watch_->WatchEnd(nullptr, {.system_wide = true}).ok());
  io_.run();
  EXPECT_EQ(calls_, "");
}

class ControlledRunTest : public RunWatchTest {
 protected:
  ControlledRunTest() {
    EXPECT_EQ(pipe(commands_.data()), 0);
    EXPECT_EQ(pipe(answers_.data()), 0);
    auto control = Control::Open({.fd = commands_[0], .answer_fd = answers_[1]});
    EXPECT_TRUE(control.ok()) << control.status();
    control_ = *std::move(control);
  }
  ~ControlledRunTest() override {
    watch_.reset();
    control_.reset();
    for (const int fd : {commands_[0], commands_[1], answers_[0]}) close(fd);
  }

  void Send(std::string_view lines) {
    EXPECT_EQ(write(commands_[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  }
  // Returns the number of answers. Call it once.
  size_t Answers() {
    watch_.reset();
    control_.reset();
    close(answers_[1]);
    std::array<char, 256> answers;
    return static_cast<size_t>(read(answers_[0], answers.data(), answers.size())) / 4;
  }

  std::array<int, 2> commands_, answers_;
  std::unique_ptr<Control> control_;
};

TEST_F(ControlledRunTest, CommandsAreObeyedAndAnswered) {
  ASSERT_TRUE(watch_->WatchControl(*control_, Handlers()).ok());
  Send("enable\nping\n");
  io_.run_one();
  EXPECT_EQ(calls_, "enable\n");
  Send("what\ndisable\nstop\n");
  io_.run();
  EXPECT_EQ(calls_, "enable\nunknown\ndisable\nrequested\n");
  EXPECT_EQ(Answers(), 4u);
}

TEST_F(ControlledRunTest, AfterAFailureNoCommandIsObeyed) {
  ASSERT_TRUE(watch_->WatchControl(*control_, Handlers(false)).ok());
  Send("enable\ndisable\n");
  io_.run();
  EXPECT_EQ(calls_, "enable\n");
  EXPECT_EQ(Answers(), 0u);
}

}  // namespace
}  // namespace profiler::target

#include "src/machine/target/control.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::target {
namespace {

using Command = Control::Command;

TEST(ControlTest, PlacesAreDescriptorsOrFifos) {
  EXPECT_EQ(ParseControl("fd:10,11")->answer_fd, 11);
  EXPECT_EQ(ParseControl("fd:10")->fd, 10);
  EXPECT_EQ(ParseControl("fifo:a,b")->answer_fifo, "b");
  for (const char* wrong : {"", "fd:", "fd:x", "fd:1,", "fd:1,x", "file:a", "fifo:", "10"}) {
    EXPECT_FALSE(ParseControl(wrong).ok()) << wrong;
  }
}

TEST(ControlTest, LinesAreCommandsAndAreAnswered) {
  int commands[2], answers[2];
  ASSERT_EQ(pipe(commands), 0);
  ASSERT_EQ(pipe(answers), 0);
  const auto control = Control::Open({.fd = commands[0], .answer_fd = answers[1]});
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_TRUE((*control)->Take().empty());
  ASSERT_EQ(write(commands[1], "enable\nwhat\ndis", 15), 15);
  EXPECT_EQ((*control)->Take(), (std::vector<Command>{Command::kEnable, Command::kUnknown}));
  EXPECT_FALSE((*control)->is_over());
  ASSERT_EQ(write(commands[1], "able\nstop", 9), 9);
  close(commands[1]);
  EXPECT_EQ((*control)->Take(), (std::vector<Command>{Command::kDisable, Command::kStop}));
  EXPECT_TRUE((*control)->is_over());
  (*control)->Acknowledge();
  char answer[5] = {};
  ASSERT_EQ(read(answers[0], answer, 4), 4);
  EXPECT_STREQ(answer, "ack\n");
  for (const int fd : {commands[0], answers[0], answers[1]}) close(fd);
}

TEST(ControlTest, TheEndBehindALineIsNoLine) {
  int commands[2];
  ASSERT_EQ(pipe(commands), 0);
  const auto control = Control::Open({.fd = commands[0]});
  ASSERT_TRUE(control.ok()) << control.status();
  ASSERT_EQ(write(commands[1], "snapshot\n", 9), 9);
  close(commands[1]);
  EXPECT_EQ((*control)->Take(), std::vector<Command>{Command::kSnapshot});
  EXPECT_TRUE((*control)->is_over());
  close(commands[0]);
}

TEST(ControlTest, AFifoNeedsNobodyAtItsOtherEnd) {
  procfs::FakeTree tree;
  tree.Write("beside", "");
  const std::string path = tree.path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto control = Control::Open({.fifo = path});
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_TRUE((*control)->Take().empty());
  EXPECT_FALSE((*control)->is_over());
  EXPECT_EQ(ErrnoOf(Control::Open({.fifo = tree.path("none")}).status()), ENOENT);
}

}  // namespace
}  // namespace profiler::target

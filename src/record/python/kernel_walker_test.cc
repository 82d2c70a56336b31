#include "src/record/python/kernel_walker.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "src/record/testing/gated_events.h"

namespace profiler::record::python {
namespace {

using ringbuf::FakeKernel;

class KernelWalkerTest : public GatedEventsTest {
 protected:
  KernelWalkerTest() : GatedEventsTest({0, 1}) {}

  KernelWalker Walker() { return KernelWalker(*gate_, how_); }

  KernelWalkerOptions how_;
};

TEST_F(KernelWalkerTest, WalkingIsLoadedWithTheFirstInterpreter) {
  KernelWalker walker = Walker();
  EXPECT_TRUE(walker.Walk(7, {}, 1));
  EXPECT_TRUE(walker.Walk(8, {}, 2));
  walker.Leave(7);
  EXPECT_EQ(state_.log, "gate\nwalk cpu0 cpu1\nadd 7 generation 1\nadd 8 generation 2\nremove 7\n");
  EXPECT_EQ(outputs_.size(), 2u);
  EXPECT_EQ(walker.Problem(), "");
}

TEST_F(KernelWalkerTest, WalkingIsLoadedWhenTheImageOfAnInterpreterIsMet) {
  KernelWalker walker = Walker();
  walker.Prepare();
  EXPECT_EQ(state_.log, "gate\nwalk cpu0 cpu1\n");
  EXPECT_TRUE(walker.Walk(7, {}, 1));
  EXPECT_EQ(state_.log, "gate\nwalk cpu0 cpu1\nadd 7 generation 1\n");
}

TEST_F(KernelWalkerTest, AFailureIsNotSaidOfAnInterpreterThatDoesNotStart) {
  state_.walk_error = ENOENT;
  KernelWalker walker = Walker();
  walker.Prepare();
  EXPECT_EQ(walker.Problem(), "");
}

TEST_F(KernelWalkerTest, WithoutTheRightNothingIsSaidUntilAnInterpreterIsMet) {
  state_.gate_error = EPERM;
  EXPECT_FALSE(gate_->Attach().ok());
  KernelWalker walker = Walker();
  EXPECT_EQ(walker.Problem(), "");
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  EXPECT_EQ(walker.Problem(),
            "Python functions have no names, because the program that reads them in the kernel "
            "cannot run (Operation not permitted): run as root, or give this program CAP_BPF and "
            "CAP_PERFMON; for a command in Python 3.12 or later, pass --runtime-maps");
}

TEST_F(KernelWalkerTest, RootIsNotToldToRunAsRoot) {
  state_.gate_error = EPERM;
  how_.is_root = true;
  KernelWalker walker = Walker();
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  EXPECT_NE(walker.Problem().find("(Operation not permitted): give this container or service "),
            std::string::npos)
      << walker.Problem();
}

TEST_F(KernelWalkerTest, LockedMemoryIsNamedIfTheProgramHasTheCapabilities) {
  state_.gate_error = EPERM;
  how_.may_load = true;
  KernelWalker walker = Walker();
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  EXPECT_NE(walker.Problem().find("(Operation not permitted): raise the limit of locked "),
            std::string::npos)
      << walker.Problem();
}

TEST_F(KernelWalkerTest, LockdownIsNamedAsTheReason) {
  state_.walk_error = EINVAL;
  how_.is_locked_down = true;
  KernelWalker walker = Walker();
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  EXPECT_NE(walker.Problem().find("(Invalid argument): lockdown forbids programs"),
            std::string::npos)
      << walker.Problem();
}

TEST_F(KernelWalkerTest, AnEventWithAnotherProgramIsNamedAsTheReason) {
  kernel_.FailCall(FakeKernel::Call::kSetProgram, 1, EEXIST);
  KernelWalker walker = Walker();
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  EXPECT_NE(walker.Problem().find("another BPF program is attached to the event"),
            std::string::npos);
}

TEST_F(KernelWalkerTest, AfterAFailureNothingIsTriedAgain) {
  state_.walk_error = ENOENT;
  KernelWalker walker = Walker();
  EXPECT_FALSE(walker.Walk(7, {}, 1));
  state_.walk_error = 0;
  EXPECT_FALSE(walker.Walk(7, {}, 2));
  walker.Leave(7);
  EXPECT_EQ(state_.log, "gate\n");
  EXPECT_NE(walker.Problem().find("BTF"), std::string::npos);
}

}  // namespace
}  // namespace profiler::record::python

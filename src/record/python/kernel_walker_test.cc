#include "src/record/python/kernel_walker.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ringbuf/testing/fake_kernel.h"
#include "src/record/testing/fake_programs.h"

namespace profiler::record::python {
namespace {

using ringbuf::FakeKernel;

// One thread on two CPUs with the sideband (config 9) and a sampling event (config 0).
class KernelWalkerTest : public ::testing::Test {
 protected:
  KernelWalkerTest() {
    ringbuf::EventSetOptions options;
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    options.attrs.push_back(attr);
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    options.attrs.push_back(attr);
    options.cpus = {0, 1};
    events_ = *ringbuf::EventSet::Create(kernel_, std::move(options));
    EXPECT_TRUE(events_->AddThread(7).ok());
    attr.config = PERF_COUNT_SW_BPF_OUTPUT;
    gate_ = std::make_unique<SampleGate>(
        *events_,
        SampleGateOptions{.samples = {1},
                          .output = attr,
                          .on_output = [this](uint64_t id) { outputs_.push_back(id); }},
        std::make_unique<FakePrograms>(state_));
  }

  KernelWalker Walker() { return KernelWalker(*gate_, how_); }

  FakeKernel kernel_;
  std::unique_ptr<ringbuf::EventSet> events_;
  KernelWalkerOptions how_;
  FakePrograms::State state_;
  std::vector<uint64_t> outputs_;
  std::unique_ptr<SampleGate> gate_;
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

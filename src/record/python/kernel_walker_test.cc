#include "src/record/python/kernel_walker.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::record::python {
namespace {

using ringbuf::FakeKernel;

// Programs that note what is done with them.
class FakePrograms final : public Programs {
 public:
  struct State {
    std::string log;
    int gate_error = 0, walk_error = 0;
  };
  explicit FakePrograms(State& state) : state_(state) {}

  absl::StatusOr<int> LoadGate() override {
    if (state_.gate_error != 0) return ErrnoStatus(state_.gate_error, "gate");
    state_.log += "gate\n";
    return 77;
  }
  absl::Status LoadWalk(std::span<const Output> outputs) override {
    if (state_.walk_error != 0) return ErrnoStatus(state_.walk_error, "walk");
    state_.log += "walk";
    for (const Output& output : outputs) absl::StrAppend(&state_.log, " cpu", output.cpu);
    state_.log += "\n";
    return absl::OkStatus();
  }
  absl::Status Add(uint32_t pid, const PythonProcessEntry& entry) override {
    absl::StrAppend(&state_.log, "add ", pid, " generation ", entry.generation, "\n");
    return absl::OkStatus();
  }
  void Remove(uint32_t pid) override { absl::StrAppend(&state_.log, "remove ", pid, "\n"); }

 private:
  State& state_;
};

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
    how_.attrs = {1};
    how_.output = attr;
    how_.output.config = PERF_COUNT_SW_BPF_OUTPUT;
    how_.on_output = [this](uint64_t id) { outputs_.push_back(id); };
  }

  KernelWalker Walker() {
    return KernelWalker(*events_, how_, std::make_unique<FakePrograms>(state_));
  }

  FakeKernel kernel_;
  std::unique_ptr<ringbuf::EventSet> events_;
  KernelWalkerOptions how_;
  FakePrograms::State state_;
  std::vector<uint64_t> outputs_;
};

TEST_F(KernelWalkerTest, TheGateIsSetOnTheSamplingEventsOnly) {
  KernelWalker walker = Walker();
  walker.Attach();
  walker.Attach();
  EXPECT_EQ(state_.log, "gate\n");
  EXPECT_EQ(kernel_.Describe(),
            "id 1: tid 7 config 9 enabled owns the ring of cpu 0\n"
            "id 2: tid 7 config 0 enabled runs program 77 -> ring of cpu 0\n"
            "id 3: tid 7 config 9 enabled owns the ring of cpu 1\n"
            "id 4: tid 7 config 0 enabled runs program 77 -> ring of cpu 1\n");
}

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
  KernelWalker walker = Walker();
  walker.Attach();
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

#include "src/record/call_graph_choice.h"

#include <linux/capability.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace profiler::record {
namespace {

// Returns the limits of a machine with two CPUs and 16 GiB of memory, for a process that may lock
// memory.
UnwindingMeans Means() {
  return {.capabilities = 1ull << CAP_IPC_LOCK,
          .memory = uint64_t{16} << 30,
          .cpus = 2,
          .samples_per_second = 999};
}

std::string Choice(const UnwindingMeans& means, RecordOptions options = {}) {
  options.targets.system_wide = true;
  const CallGraphChoice choice = ChooseCallGraph(options, means);
  EXPECT_EQ(choice.call_graph == CallGraph::kDwarf, choice.reason.starts_with("dwarf ("));
  return choice.reason;
}

TEST(CallGraphChoiceTest, OfEverythingStacksAreUnwoundWhereThatIsCheap) {
  EXPECT_EQ(Choice(Means()), "dwarf (about 2.4 % of a CPU for the whole machine)");
}

TEST(CallGraphChoiceTest, NotWhereItTakesMoreThanATwentiethOfACpu) {
  UnwindingMeans means = Means();
  means.cpus = 96;
  EXPECT_EQ(Choice(means),
            "fp (the whole machine is recorded, and dwarf would take 115 % of a CPU; pass a lower "
            "-F, or --call-graph dwarf)");
  means.samples_per_second = 43;
  means.memory = uint64_t{64} << 30;
  EXPECT_EQ(Choice(means), "dwarf (about 5.0 % of a CPU for the whole machine)");
  EXPECT_EQ(
      Choice(Means(), {.period = 1000}),
      "fp (the whole machine is recorded, and the cost of dwarf is unknown with a period, -c)");
}

TEST(CallGraphChoiceTest, NotWhereTheRingsAreMuchOfTheMemory) {
  UnwindingMeans means = Means();
  means.memory = uint64_t{256} << 20;
  EXPECT_EQ(Choice(means),
            "fp (the whole machine is recorded, and dwarf would need rings of 8 MiB, more than "
            "1/64 of the memory)");
}

TEST(CallGraphChoiceTest, NotWhereSoMuchMayNotBeLocked) {
  UnwindingMeans means = Means();
  means.capabilities = 0;
  means.limits.mlock_kb = 516;
  EXPECT_EQ(Choice(means),
            "fp (the whole machine is recorded, and dwarf needs more locked memory; run `sudo "
            "sysctl kernel.perf_event_mlock_kb=1028`)");
  means.limits.mlock_kb = 1028;
  EXPECT_EQ(Choice(means), "dwarf (about 2.4 % of a CPU for the whole machine)");
}

TEST(CallGraphChoiceTest, OfJavaStacksAreUnwoundWhateverFramePointersThereAre) {
  const std::string program = testing::TempDir() + "/java";
  std::filesystem::copy_file("/proc/self/exe", program,
                             std::filesystem::copy_options::overwrite_existing);
  RecordOptions options;
  options.targets.command = {program};
  EXPECT_EQ(ChooseCallGraph(options, Means()).reason, "dwarf (" + program + " runs Java code)");
}

}  // namespace
}  // namespace profiler::record

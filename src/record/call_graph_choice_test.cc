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
  EXPECT_EQ(choice.call_graph == CallGraph::kDwarf, choice.reason.starts_with("dwarf, "));
  return choice.reason;
}

TEST(CallGraphChoiceTest, OfEverythingStacksAreUnwoundWhereThatIsCheap) {
  EXPECT_EQ(Choice(Means()), "dwarf, which takes about 2.4 % of a CPU for everything");
}

TEST(CallGraphChoiceTest, NotWhereItTakesMoreThanATwentiethOfACpu) {
  UnwindingMeans means = Means();
  means.cpus = 96;
  EXPECT_EQ(Choice(means),
            "fp, as everything is recorded, and dwarf would take 115 % of a CPU: a lower -F, or "
            "--call-graph dwarf");
  means.samples_per_second = 43;
  means.memory = uint64_t{64} << 30;
  EXPECT_EQ(Choice(means), "dwarf, which takes about 5.0 % of a CPU for everything");
  EXPECT_EQ(
      Choice(Means(), {.period = 1000}),
      "fp, as everything is recorded, and of a period (-c) it is not known how often it comes");
}

TEST(CallGraphChoiceTest, NotWhereTheRingsAreMuchOfTheMemory) {
  UnwindingMeans means = Means();
  means.memory = uint64_t{256} << 20;
  EXPECT_EQ(Choice(means),
            "fp, as everything is recorded, and dwarf would take rings of 8 MiB, more than a 64th "
            "of the memory");
}

TEST(CallGraphChoiceTest, NotWhereSoMuchMayNotBeLocked) {
  UnwindingMeans means = Means();
  means.capabilities = 0;
  means.limits.mlock_kb = 516;
  EXPECT_EQ(Choice(means),
            "fp, as everything is recorded, and dwarf needs rings of more memory than may be "
            "locked: sudo sysctl kernel.perf_event_mlock_kb=1028");
  means.limits.mlock_kb = 1028;
  EXPECT_EQ(Choice(means), "dwarf, which takes about 2.4 % of a CPU for everything");
}

TEST(CallGraphChoiceTest, OfJavaStacksAreUnwoundWhateverFramePointersThereAre) {
  const std::string program = testing::TempDir() + "/java";
  std::filesystem::copy_file("/proc/self/exe", program,
                             std::filesystem::copy_options::overwrite_existing);
  RecordOptions options;
  options.targets.command = {program};
  EXPECT_EQ(ChooseCallGraph(options, Means()).reason,
            "dwarf, as " + program + " tells of Java's frames");
}

}  // namespace
}  // namespace profiler::record

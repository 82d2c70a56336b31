#include "src/format/perf_event/register_names.h"

#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

TEST(RegistersTest, AMachineNameSaysTheArchitecture) {
  EXPECT_EQ(ArchitectureOf("x86_64"), Architecture::kX86);
  EXPECT_EQ(ArchitectureOf("i686"), Architecture::kX86);
  EXPECT_EQ(ArchitectureOf("aarch64"), Architecture::kArm64);
  EXPECT_EQ(ArchitectureOf("armv7l"), Architecture::kArm);
  EXPECT_EQ(ArchitectureOf("riscv64"), Architecture::kRiscv);
  EXPECT_EQ(ArchitectureOf("ppc64le"), Architecture::kPowerpc);
  EXPECT_EQ(ArchitectureOf("s390x"), Architecture::kS390);
  EXPECT_EQ(ArchitectureOf("pdp11"), Architecture::kUnknown);
}

TEST(RegistersTest, BitsHaveTheNamesOfTheirArchitecture) {
  EXPECT_EQ(RegisterName(Architecture::kX86, 0), "AX");
  EXPECT_EQ(RegisterName(Architecture::kX86, 23), "R15");
  EXPECT_EQ(RegisterName(Architecture::kX86, 33), "XMM0");
  EXPECT_EQ(RegisterName(Architecture::kX86, 63), "XMM15");
  EXPECT_EQ(RegisterName(Architecture::kArm64, 32), "pc");
  EXPECT_EQ(RegisterName(Architecture::kArm64, 46), "vg");
  EXPECT_EQ(RegisterName(Architecture::kArm, 11), "fp");
  EXPECT_EQ(RegisterName(Architecture::kRiscv, 31), "t6");
  EXPECT_EQ(RegisterName(Architecture::kPowerpc, 44), "mmcra");
  EXPECT_EQ(RegisterName(Architecture::kS390, 33), "PC");
}

TEST(RegistersTest, BitsThatMeanNothingAreUnknown) {
  EXPECT_EQ(RegisterName(Architecture::kX86, 24), "unknown");
  EXPECT_EQ(RegisterName(Architecture::kArm, 16), "unknown");
  EXPECT_EQ(RegisterName(Architecture::kUnknown, 0), "unknown");
  EXPECT_EQ(RegisterName(Architecture::kX86, -1), "unknown");
}

}  // namespace
}  // namespace profiler::perf_event

#include "src/format/perf_event/register_names.h"

#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

TEST(RegistersTest, AMachineNameSaysTheArchitecture) {
  const auto first = [](std::string_view machine) {
    return RegisterName(ArchitectureOf(machine), 0);
  };
  EXPECT_EQ(first("x86_64"), "AX");
  EXPECT_EQ(first("i686"), "AX");
  EXPECT_EQ(first("aarch64"), "x0");
  EXPECT_EQ(first("arm64"), "x0");
  EXPECT_EQ(first("armv7l"), "r0");
  EXPECT_EQ(first("riscv64"), "pc");
  EXPECT_EQ(first("ppc64le"), "r0");
  EXPECT_EQ(first("powerpc"), "r0");
  EXPECT_EQ(first("s390x"), "R0");
  EXPECT_TRUE(ArchitectureOf("pdp11").empty());
}

TEST(RegistersTest, BitsHaveTheNamesOfTheirArchitecture) {
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), 0), "AX");
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), 23), "R15");
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), 33), "XMM0");
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), 63), "XMM15");
  EXPECT_EQ(RegisterName(ArchitectureOf("arm64"), 32), "pc");
  EXPECT_EQ(RegisterName(ArchitectureOf("arm64"), 46), "vg");
  EXPECT_EQ(RegisterName(ArchitectureOf("armv7l"), 11), "fp");
  EXPECT_EQ(RegisterName(ArchitectureOf("riscv64"), 31), "t6");
  EXPECT_EQ(RegisterName(ArchitectureOf("ppc64le"), 44), "mmcra");
  EXPECT_EQ(RegisterName(ArchitectureOf("s390x"), 33), "PC");
}

TEST(RegistersTest, BitsThatMeanNothingAreUnknown) {
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), 24), "unknown");
  EXPECT_EQ(RegisterName(ArchitectureOf("armv7l"), 16), "unknown");
  EXPECT_EQ(RegisterName(Architecture(), 0), "unknown");
  EXPECT_EQ(RegisterName(ArchitectureOf("x86_64"), -1), "unknown");
}

}  // namespace
}  // namespace profiler::perf_event

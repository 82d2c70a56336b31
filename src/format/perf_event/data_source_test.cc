#include "src/format/perf_event/data_source.h"

#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

// Compares with the output of perf 7.2.
TEST(DataSourceTest, IsToldInPerfsWords) {
  EXPECT_EQ(DataSourceInPerfsWords(0x5080021), "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
  EXPECT_EQ(DataSourceInPerfsWords(0x68100142),
            "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
}

TEST(DataSourceTest, ALevelByNumberComesBeforeTheOldBits) {
  const uint64_t remote_ram_miss = 1ull << 2 | 4ull << 5 | 13ull << 33 | 1ull << 37 | 1ull << 43;
  EXPECT_EQ(DataSourceInPerfsWords(remote_ram_miss),
            "|OP STORE|LVL Remote core, same node RAM miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
}

TEST(DataSourceTest, SeveralBitsAreAlternatives) {
  const uint64_t data_src = 1ull << 1 | 0x28ull << 5 | 6ull << 19 | 2ull << 38 | 2ull << 24 |
                            0x6ull << 40 | 0x24ull << 26;
  EXPECT_EQ(
      DataSourceInPerfsWords(data_src),
      "|OP LOAD|LVL L1 or L2 |SNP None or Hit or Peer|TLB Walker miss|LCK Yes|BLK  Data Addr");
}

TEST(DataSourceTest, ASampleWithoutOneHasAllPartsUnknown) {
  EXPECT_EQ(DataSourceInPerfsWords(kNoDataSource),
            "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
}

TEST(DataSourceTest, AWeightIsOneNumberOrThree) {
  const auto text = [](const AccessCost& cost) {
    return std::to_string(cost.weight) + " " + std::to_string(cost.instruction_latency) + " " +
           std::to_string(cost.retire_latency);
  };
  constexpr uint64_t kWeight = uint64_t{3} << 48 | uint64_t{2} << 32 | 1;
  EXPECT_EQ(text(CostOf(kSampleWeight, kWeight)), std::to_string(kWeight) + " 0 0");
  EXPECT_EQ(text(CostOf(kSampleWeightStruct, kWeight)), "1 2 3");
}

}  // namespace
}  // namespace profiler::perf_event

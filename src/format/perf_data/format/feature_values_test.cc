#include "src/format/perf_data/format/feature_values.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {
namespace {

Features With(int bit, const std::function<void(FieldWriter&)>& write) {
  Features features;
  features.nrcpus = {{2, 2}};
  FieldWriter writer(&features.other[bit]);
  write(writer);
  return features;
}

Features Topology(int revision) {
  return With(kFeatureCpuTopology, [revision](FieldWriter& writer) {
    writer.U32(1);
    writer.String("0-1");
    writer.U32(2);
    writer.String("0");
    writer.String("1");
    if (revision < 2) return;
    for (uint32_t id : {0, 0, 1, 0}) writer.U32(id);
    if (revision < 3) return;
    writer.U32(1);
    writer.String("0-1");
    for (uint32_t id : {7, 8}) writer.U32(id);
  });
}

TEST(FeatureValues, CpuTopologyIsReadInAllThreeRevisions) {
  for (int revision : {1, 2, 3}) {
    const auto topology = ReadCpuTopology(Topology(revision));
    ASSERT_TRUE(topology) << revision;
    EXPECT_EQ(topology->thread_siblings, (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(topology->cpus.size(), revision >= 2 ? 2u : 0u);
    EXPECT_EQ(topology->die_ids,
              revision >= 3 ? std::vector<uint32_t>({7, 8}) : std::vector<uint32_t>());
  }
}

TEST(FeatureValues, MemoryTopologyCountsItsBlocks) {
  const auto topology = ReadMemoryTopology(With(kFeatureMemTopology, [](FieldWriter& writer) {
    for (uint64_t word : {1, 0x8000000, 1, /*node*/ 0, 70, 70, 0xff, 0x1}) writer.U64(word);
  }));
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->block_size, 0x8000000u);
  EXPECT_EQ(topology->nodes.at(0).blocks, 9u);
}

TEST(FeatureValues, PmuCapsAreReadByPmu) {
  const auto caps = ReadPmuCaps(With(kFeaturePmuCaps, [](FieldWriter& writer) {
    writer.U32(1);
    writer.U32(1);
    writer.String("branches");
    writer.String("32");
    writer.String("cpu_core");
  }));
  ASSERT_TRUE(caps);
  EXPECT_EQ(caps->at(0).pmu, "cpu_core");
  EXPECT_EQ(caps->at(0).caps.at(0).second, "32");
}

TEST(FeatureValues, BpfProgramsHaveTheirNames) {
  const auto programs = ReadBpfPrograms(With(kFeatureBpfProgInfo, [](FieldWriter& writer) {
    writer.U32(1);
    writer.U32(80);
    writer.U32(3);
    writer.U64(0);
    writer.U32(5);
    writer.U32(42);
    writer.Zeroes(56);
    writer.Text("sched_switch");
    writer.Zeroes(4 + 3);
  }));
  ASSERT_TRUE(programs);
  EXPECT_EQ(programs->at(0).id, 42u);
  EXPECT_EQ(programs->at(0).name, "sched_switch");
}

TEST(FeatureValues, AbsentAndCutOnesHaveNone) {
  EXPECT_FALSE(ReadCpuTopology(Features()));
  const std::string whole = Topology(1).other.at(kFeatureCpuTopology);
  for (size_t size = 0; size < whole.size(); ++size) {
    Features features;
    features.other[kFeatureCpuTopology] = whole.substr(0, size);
    EXPECT_FALSE(ReadCpuTopology(features)) << size;
  }
}

TEST(FeatureValues, ImpossibleCountsAreRefused) {
  const auto ones = [](FieldWriter& writer) { writer.Text(std::string(24, '\xff')); };
  EXPECT_FALSE(ReadNumaTopology(With(kFeatureNumaTopology, ones)));
  EXPECT_FALSE(ReadPmuMappings(With(kFeaturePmuMappings, ones)));
  EXPECT_FALSE(ReadGroups(With(kFeatureGroupDesc, ones)));
  EXPECT_FALSE(ReadCaches(With(kFeatureCache, ones)));
  EXPECT_FALSE(ReadMemoryTopology(With(kFeatureMemTopology, ones)));
  EXPECT_FALSE(ReadBpfPrograms(With(kFeatureBpfProgInfo, ones)));
  EXPECT_FALSE(ReadBpfTypes(With(kFeatureBpfBtf, ones)));
  EXPECT_FALSE(ReadCpuPmuCaps(With(kFeatureCpuPmuCaps, ones)));
  EXPECT_FALSE(ReadHybridTopology(With(kFeatureHybridTopology, ones)));
}

}  // namespace
}  // namespace profiler::perf_data

#include "src/format/perf_data/format/features_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {
namespace {

std::vector<std::byte> Bytes(std::string_view text) {
  const auto bytes = BytesOfText(text);
  return {bytes.begin(), bytes.end()};
}

Features AllFeatures() {
  Features features;
  features.build_ids = {
      {-1, 1, Bytes("0123456789abcdefghij"), "[kernel.kallsyms]"},
      {77, 2, Bytes("0123456789abcdef"), std::string(64, 'x')},
      {78, 2, Bytes("md5md5md5md5md5m"), ""},
  };
  features.hostname = "host";
  features.osrelease = "6.1.0-13-amd64";
  features.version = "1.0";
  features.arch = "x86_64";
  features.cpudesc = "Some CPU @ 3 GHz";
  features.cpuid = "GenuineIntel,6,85,7";
  features.nrcpus = {{8, 4}};
  features.total_mem_kb = 16316668;
  features.cmdline = {"profiler", "record", "-o", "a b", ""};
  features.sample_time = {{1, UINT64_MAX}};
  features.clockid_resolution_ns = 1;
  features.clock_data = {{1, 1700000000000000000, 99}};
  features.other[kFeatureStat] = "";
  features.other[200] = "ours, with\0a NUL";
  return features;
}

Features Decoded(const std::map<int, std::string>& sections, bool* ok) {
  Features features;
  *ok = true;
  for (const auto& [bit, section] : sections) {
    *ok &= DecodeFeature(bit, BytesOfText(section), false, &features);
  }
  return features;
}

TEST(Features, DecodesWhatItEncodes) {
  bool ok = false;
  EXPECT_EQ(Decoded(EncodeFeatures(AllFeatures()), &ok), AllFeatures());
  EXPECT_TRUE(ok);
}

TEST(Features, EncodesWhatItDecoded) {
  const std::map<int, std::string> sections = EncodeFeatures(AllFeatures());
  bool ok = false;
  EXPECT_EQ(EncodeFeatures(Decoded(sections, &ok)), sections);
}

TEST(Features, WithoutValuesHaveNoSections) { EXPECT_TRUE(EncodeFeatures(Features()).empty()); }

TEST(Features, CutAnywhereAreReadAsFarAsTheyGo) {
  for (const auto& [bit, section] : EncodeFeatures(AllFeatures())) {
    if (AllFeatures().other.count(bit) != 0) continue;
    for (size_t size = 0; size < section.size(); ++size) {
      Features features;
      // A BUILD_ID section that is cut between two of its records is still valid.
      const bool whole_records = bit == kFeatureBuildId && size % 4 == 0;
      const bool ok = DecodeFeature(bit, BytesOfText(section.substr(0, size)), false, &features);
      EXPECT_TRUE(!ok || whole_records) << "feature " << bit << " cut to " << size;
    }
  }
}

TEST(Features, WithImpossibleCountsAreRefused) {
  const std::string many(4, '\xff');
  Features features;
  EXPECT_FALSE(DecodeFeature(kFeatureCmdline, BytesOfText(many), false, &features));
  EXPECT_FALSE(DecodeFeature(kFeatureHostname, BytesOfText(many), false, &features));
  EXPECT_TRUE(DecodeEventDesc(BytesOfText(many + many), false).empty());
}

TEST(Features, OfTheOtherByteOrderAreTurned) {
  const unsigned char section[] = {0, 0, 0, 8, 0, 0, 0, 4};
  Features features;
  ASSERT_TRUE(DecodeFeature(kFeatureNrcpus, std::as_bytes(std::span(section)), true, &features));
  EXPECT_EQ(features.nrcpus, (CpuCount{8, 4}));
}

TEST(Features, BuildIdWithoutItsSizeHasTwentyBytes) {
  Features features;
  features.build_ids = {{1, 2, Bytes("0123456789abcdefghij"), "/bin/cat"}};
  std::string section = EncodeFeatures(features)[kFeatureBuildId];
  section[5] = 0;  // the high byte of misc
  section[8 + 4 + 20] = 3;
  bool ok = false;
  EXPECT_EQ(Decoded({{kFeatureBuildId, section}}, &ok), features);
}

std::vector<EventDesc> TwoEvents() {
  std::vector<EventDesc> events(2);
  events[0].attr.config = 7;
  events[0].attr.size = 80;
  events[0].name = "cycles:u";
  events[0].ids = {1, 2, 3};
  events[1].attr.branch_sample_type = 8;
  events[1].attr.size = 80;
  events[1].name = std::string(100, 'e');
  return events;
}

TEST(EventDescriptions, DecodeWhatTheyEncode) {
  EXPECT_EQ(DecodeEventDesc(BytesOfText(EncodeEventDesc(TwoEvents())), false), TwoEvents());
}

TEST(EventDescriptions, CutAnywhereGiveTheWholeOnes) {
  const std::string section = EncodeEventDesc(TwoEvents());
  const size_t first = 8 + 80 + 4 + 4 + kNameAlign + 3 * 8;
  for (size_t size = 0; size < section.size(); ++size) {
    EXPECT_EQ(DecodeEventDesc(BytesOfText(section.substr(0, size)), false).size(),
              size < first ? 0u : 1u)
        << size;
  }
}

}  // namespace
}  // namespace profiler::perf_data

#include "src/machine/events/pmu.h"

#include <string>

#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::events {
namespace {

using perf_event::Attr;

Attr Put(std::string_view format, uint64_t value) {
  Attr attr;
  const auto parsed = ParsePmuFormat(format);
  EXPECT_TRUE(parsed && parsed->Put(value, &attr)) << format;
  return attr;
}

TEST(PmuTest, FormatsSayWhereTheBitsOfAValueGo) {
  EXPECT_EQ(Put("config:0-7", 0x3c).config, 0x3cu);
  EXPECT_EQ(Put("config:8-15", 1).config, 0x100u);
  EXPECT_EQ(Put("config:0-7,32-35", 0xf12).config, 0xf00000012u);
  EXPECT_EQ(Put("config1:3", 1).config1, 8u);
  EXPECT_EQ(Put("config2:0-63", ~0ull).config2, ~0ull);
}

TEST(PmuTest, ValuesThatDoNotFitAreRefused) {
  Attr attr;
  EXPECT_FALSE(ParsePmuFormat("config:0-7")->Put(0x100, &attr));
  EXPECT_EQ(ParsePmuFormat("config:0-7,32-35")->width(), 12u);
}

TEST(PmuTest, WhatIsNoFormatIsNone) {
  for (const char* text : {"", "config", "config:", "config9:0", "config:a", "config:7-0",
                           "config:64", "config:0-63,0-63", "event"}) {
    EXPECT_FALSE(ParsePmuFormat(text).has_value()) << text;
  }
}

constexpr char kDevices[] = "sys/bus/event_source/devices/";

TEST(PmuTest, PmusAreFoundByNamePatternAndStem) {
  procfs::FakeTree tree;
  for (const char* name : {"uncore_imc_0", "uncore_imc_1", "uncore_imcx", "cpu"}) {
    tree.Write(std::string(kDevices) + name + "/type", "7\n");
  }
  const auto names = [&](const char* pattern) {
    std::string found;
    for (const Pmu& pmu : FindPmus(ReadPmus(tree.roots()), pattern)) found += pmu.name + " ";
    return found;
  };
  EXPECT_EQ(names("cpu"), "cpu ");
  EXPECT_EQ(names("uncore_imc"), "uncore_imc_0 uncore_imc_1 ");
  EXPECT_EQ(names("uncore_imc*"), "uncore_imc_0 uncore_imc_1 uncore_imcx ");
  EXPECT_EQ(names("none"), "");
}

TEST(PmuTest, AliasesHaveTermsAUnitAndAScale) {
  procfs::FakeTree tree;
  const std::string power = std::string(kDevices) + "power/";
  tree.Write(power + "type", "20\n")
      .Write(power + "cpumask", "0,18\n")
      .Write(power + "events/energy-pkg", "event=0x02\n")
      .Write(power + "events/energy-pkg.unit", "Joules\n")
      .Write(power + "events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
  const std::vector<Pmu> pmus = ReadPmus(tree.roots());
  ASSERT_EQ(pmus.size(), 1u);
  EXPECT_EQ(pmus[0].cpus, (std::vector<int>{0, 18}));
  EXPECT_EQ(pmus[0].AliasNames(), std::vector<std::string>{"energy-pkg"});
  const auto alias = pmus[0].FindAlias("energy-pkg");
  ASSERT_TRUE(alias.has_value());
  EXPECT_EQ(alias->terms, "event=0x02");
  EXPECT_EQ(alias->unit, "Joules");
  EXPECT_DOUBLE_EQ(alias->scale, 2.3283064365386962890625e-10);
  EXPECT_FALSE(pmus[0].FindAlias("../type").has_value());
}

}  // namespace
}  // namespace profiler::events

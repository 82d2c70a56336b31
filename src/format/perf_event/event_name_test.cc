#include "src/format/perf_event/event_name.h"

#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

Attr Known(std::string_view name) {
  const auto attr = FindKnownEvent(name);
  EXPECT_TRUE(attr.has_value()) << name;
  return attr.value_or(Attr{});
}

TEST(EventNameTest, CanonicalNamesComeBack) {
  for (std::string_view name :
       {"cycles", "instructions", "branch-misses", "ref-cycles", "cpu-clock", "page-faults",
        "context-switches", "dummy", "cgroup-switches", "L1-dcache-loads", "L1-dcache-load-misses",
        "L1-icache-prefetches", "LLC-store-misses", "dTLB-stores", "iTLB-load-misses",
        "branch-loads", "node-prefetch-misses"}) {
    EXPECT_EQ(EventName(Known(name)), name);
  }
}

TEST(EventNameTest, AliasesAreShownUnderTheCanonicalName) {
  EXPECT_EQ(EventName(Known("cpu-cycles")), "cycles");
  EXPECT_EQ(EventName(Known("branch-instructions")), "branches");
  EXPECT_EQ(EventName(Known("faults")), "page-faults");
  EXPECT_EQ(EventName(Known("cs")), "context-switches");
  EXPECT_EQ(EventName(Known("migrations")), "cpu-migrations");
  EXPECT_EQ(EventName(Known("idle-cycles-backend")), "stalled-cycles-backend");
}

TEST(EventNameTest, ModifiersNameTheModesThatAreCounted) {
  const auto cycles = [](uint64_t flags) { return EventName(Attr{.flags = flags}); };
  EXPECT_EQ(cycles(kAttrExcludeKernel | kAttrExcludeHv), "cycles:u");
  EXPECT_EQ(cycles(kAttrExcludeHv), "cycles:ku");
  EXPECT_EQ(cycles(2ull << kAttrPreciseIpShift), "cycles:pp");
  EXPECT_EQ(cycles(kAttrExcludeHost), "cycles:G");
  EXPECT_EQ(cycles(kAttrExcludeGuest | 2ull << kAttrPreciseIpShift), "cycles:ppH");
}

TEST(EventNameTest, BreakpointsAndTracepointsAreGivenByTheirNumbers) {
  EXPECT_EQ(EventName(Attr{.type = kTypeBreakpoint, .bp_type = 3, .config1 = 0x10, .config2 = 4}),
            "mem:0x10/4:rw");
  EXPECT_EQ(EventName(Attr{.type = kTypeTracepoint, .config = 317}), "tracepoint:317");
}

TEST(EventNameTest, EventsWithoutANameAreCalledAsPerfCallsThem) {
  EXPECT_EQ(EventName(Attr{.flags = kAttrExcludeGuest}), "cycles:H");
  EXPECT_EQ(EventName(Attr{.flags = kAttrExcludeGuest | kAttrExcludeKernel}), "cycles:uhH");
  EXPECT_EQ(EventName(Attr{.type = kTypeRaw, .config = 0x533079, .flags = kAttrExcludeGuest}),
            "raw 0x533079:H");
  EXPECT_EQ(EventName(Attr{.type = kTypeRaw, .config = 0}), "raw 0x0");
}

TEST(EventNameTest, NumbersAreThoseOfTheKernel) {
  EXPECT_EQ(Known("cpu-clock").type, kTypeSoftware);
  EXPECT_EQ(Known("cgroup-switches").config, 11u);
  EXPECT_EQ(Known("ref-cycles").config, 9u);
  EXPECT_EQ(Known("iTLB-load-misses").config, 0x10004u);
  EXPECT_FALSE(FindKnownEvent("zzz").has_value());
}

TEST(EventNameTest, AttrsThatNoNameFitsAreGivenByNumber) {
  EXPECT_EQ(EventName(Attr{.type = 12, .config = 0x3c}), "pmu12:0x3c");
  EXPECT_EQ(EventName(Attr{.type = kTypeHardware, .config = 99}), "pmu0:0x63");
  EXPECT_EQ(EventName(Attr{.type = kTypeHwCache, .config = 0xff}), "pmu3:0xff");
}

TEST(EventNameTest, HybridCpusNameTheirPmuInTheUpperHalfOfConfig) {
  EXPECT_EQ(EventName(Attr{.type = kTypeHardware, .config = 4ull << 32}), "cycles");
  EXPECT_EQ(EventName(Attr{.type = kTypeHwCache, .config = 4ull << 32 | 0x10002}),
            "LLC-load-misses");
}

TEST(EventNameTest, EveryKnownNameIsFound) {
  EXPECT_FALSE(KnownEventNames().empty());
  for (std::string_view name : KnownEventNames()) Known(name);
}

}  // namespace
}  // namespace profiler::perf_event

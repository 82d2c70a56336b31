#include "src/perf_event/event_name.h"

#include "gtest/gtest.h"
#include "src/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

std::string Renamed(std::string_view name) {
  const auto attr = ParseEvent(name);
  return attr.ok() ? EventName(*attr) : std::string(attr.status().message());
}

TEST(EventNameTest, CanonicalNamesComeBack) {
  for (std::string_view name : {"cycles",
                                "instructions",
                                "cache-references",
                                "cache-misses",
                                "branches",
                                "branch-misses",
                                "bus-cycles",
                                "stalled-cycles-frontend",
                                "stalled-cycles-backend",
                                "ref-cycles",
                                "cpu-clock",
                                "task-clock",
                                "page-faults",
                                "context-switches",
                                "cpu-migrations",
                                "minor-faults",
                                "major-faults",
                                "alignment-faults",
                                "emulation-faults",
                                "dummy",
                                "bpf-output",
                                "cgroup-switches",
                                "L1-dcache-loads",
                                "L1-dcache-load-misses",
                                "L1-icache-prefetches",
                                "LLC-store-misses",
                                "dTLB-stores",
                                "iTLB-load-misses",
                                "branch-loads",
                                "node-prefetch-misses",
                                "raw 0x1a8",
                                "tracepoint:317",
                                "tracepoint:317:u",
                                "mem:0x601040/4:rw",
                                "mem:0x601040/8:x:u",
                                "cycles:u",
                                "cycles:k",
                                "cycles:ku",
                                "cycles:upp",
                                "cycles:ppp",
                                "cycles:h",
                                "cycles:G",
                                "cycles:H",
                                "cycles:ppH"}) {
    EXPECT_EQ(Renamed(name), name);
  }
}

TEST(EventNameTest, AliasesAreShownUnderTheCanonicalName) {
  EXPECT_EQ(Renamed("cpu-cycles"), "cycles");
  EXPECT_EQ(Renamed("branch-instructions:u"), "branches:u");
  EXPECT_EQ(Renamed("faults"), "page-faults");
  EXPECT_EQ(Renamed("cs"), "context-switches");
  EXPECT_EQ(Renamed("migrations"), "cpu-migrations");
  EXPECT_EQ(Renamed("idle-cycles-backend"), "stalled-cycles-backend");
  EXPECT_EQ(Renamed("cycles:uk"), "cycles:ku");
  EXPECT_EQ(Renamed("cycles:P"), "cycles:ppp");
  EXPECT_EQ(Renamed("r1a8"), "raw 0x1a8");
  EXPECT_EQ(Renamed("r0x1A8"), "raw 0x1a8");
  EXPECT_EQ(Renamed("mem:0x10"), "mem:0x10/4:rw");
  EXPECT_EQ(Renamed("mem:0x10:x"), "mem:0x10/8:x");
}

TEST(EventNameTest, ModifiersExcludeTheModesThatTheyDoNotName) {
  EXPECT_EQ(ParseEvent("cycles")->flags, 0u);
  EXPECT_EQ(ParseEvent("cycles:u")->flags, kAttrExcludeKernel | kAttrExcludeHv);
  EXPECT_EQ(ParseEvent("cycles:k")->flags, kAttrExcludeUser | kAttrExcludeHv);
  EXPECT_EQ(ParseEvent("cycles:uk")->flags, uint64_t{kAttrExcludeHv});
  EXPECT_EQ(ParseEvent("cycles:H")->flags, uint64_t{kAttrExcludeGuest});
  EXPECT_EQ(ParseEvent("cycles:pp")->flags, 2ull << kAttrPreciseIpShift);
}

TEST(EventNameTest, EventsWithoutANameAreCalledAsPerfCallsThem) {
  EXPECT_EQ(EventName(Attr{.flags = kAttrExcludeGuest}), "cycles:H");
  EXPECT_EQ(EventName(Attr{.flags = kAttrExcludeGuest | kAttrExcludeKernel}), "cycles:uhH");
  EXPECT_EQ(EventName(Attr{.type = kTypeRaw, .config = 0x533079, .flags = kAttrExcludeGuest}),
            "raw 0x533079:H");
  EXPECT_EQ(EventName(Attr{.type = kTypeRaw, .config = 0}), "raw 0x0");
}

TEST(EventNameTest, NumbersAreThoseOfTheKernel) {
  EXPECT_EQ(ParseEvent("cpu-clock")->type, kTypeSoftware);
  EXPECT_EQ(ParseEvent("cgroup-switches")->config, 11u);
  EXPECT_EQ(ParseEvent("ref-cycles")->config, 9u);
  EXPECT_EQ(ParseEvent("iTLB-load-misses")->config, 0x10004u);
  EXPECT_EQ(ParseEvent("r1a8")->type, kTypeRaw);
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

TEST(EventNameTest, UnknownNamesSayWhatWasMeant) {
  EXPECT_EQ(Renamed("cpuclock"), "event 'cpuclock' is not known; did you mean 'cpu-clock'?");
  EXPECT_EQ(Renamed("page_faults"),
            "event 'page_faults' is not known; did you mean 'page-faults'?");
  EXPECT_EQ(Renamed("zzz"), "event 'zzz' is not known");
  EXPECT_EQ(Renamed(""), "event '' is not known");
  EXPECT_EQ(ParseEvent("zzz").status().code(), absl::StatusCode::kNotFound);
}

TEST(EventNameTest, BadModifiersAndNumbersAreRefused) {
  for (std::string_view name : {"cycles:", "cycles:x", "cycles:pppp", "tracepoint:x", "mem:zz",
                                "mem:0x10/q", "mem:0x10:rw:z"}) {
    EXPECT_EQ(ParseEvent(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST(EventNameTest, EveryKnownNameParses) {
  EXPECT_FALSE(KnownEventNames().empty());
  for (std::string_view name : KnownEventNames()) EXPECT_TRUE(ParseEvent(name).ok()) << name;
}

}  // namespace
}  // namespace profiler::perf_event

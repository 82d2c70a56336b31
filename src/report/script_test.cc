#include "src/report/script.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "src/report/testing/profile_builder.h"

namespace profiler::report {
namespace {

std::string Script(ProfileBuilder& builder, const ScriptOptions& options = {}) {
  std::string text;
  ScriptFormatter(builder.profile(), options).Write([&](std::string_view piece) { text += piece; });
  return text;
}

TEST(ScriptTest, ASampleIsABlockWithItsChainInnermostFirst) {
  ProfileBuilder builder;
  builder.LoadedAt(0x7f0000000000).Thread(4711, 4712).Cpu(1).Time(2180'110'871'999);
  builder.Sample("worker",
                 {"main+0x40@app", "inl<outer+0x29@libc.so.6", "copy+0x1@[kernel.kallsyms]"}, 1,
                 1001001);
  EXPECT_EQ(Script(builder),
            "worker    4712 [001]  2180.110871:    1001001 cpu-clock: \n"
            "\t    7f0000004001 copy+0x1 ([kernel.kallsyms])\n"
            "\t    7f0000003029 inl+0x29 (inlined)\n"
            "\t    7f0000003029 outer+0x29 (/usr/lib/libc.so.6)\n"
            "\t    7f0000001040 main+0x40 (/usr/lib/app)\n"
            "\n");
  EXPECT_EQ(Script(builder, {.show_cpu = false, .inlines = false, .max_stack = 2}),
            "worker    4712  2180.110871:    1001001 cpu-clock: \n"
            "\t    7f0000004001 copy+0x1 ([kernel.kallsyms])\n"
            "\t    7f0000003029 outer+0x29 (/usr/lib/libc.so.6)\n"
            "\n");
}

TEST(ScriptTest, WithoutChainsASampleIsALine) {
  ProfileBuilder builder;
  builder.Time(5'000'000'001).Sample("app", {"f+0x10@app"}).Sample("app", {"0xdead@app"});
  builder.Sample("app", {"0xbeef"});
  EXPECT_EQ(Script(builder),
            "             app     100 [000]     5.000000:    1000000 cpu-clock:              1010 "
            "f+0x10 (/usr/lib/app)\n"
            "             app     100 [000]     5.000000:    1000000 cpu-clock:              dead "
            "[unknown] (/usr/lib/app)\n"
            "             app     100 [000]     5.000000:    1000000 cpu-clock:              beef "
            "[unknown] ([unknown])\n");
}

TEST(ScriptTest, EventNamesAreAlignedToTheLongest) {
  ProfileBuilder builder;
  builder.Sample("app", {"f@app"}).Event("page-faults").Sample("app", {"f@app"}, 1, 2);
  EXPECT_EQ(
      Script(builder),
      "             app     100 [000]     0.000000:    1000000   cpu-clock:              1000 "
      "f+0x0 (/usr/lib/app)\n"
      "             app     100 [000]     0.000000:          2 page-faults:              1000 "
      "f+0x0 (/usr/lib/app)\n");
}

TEST(ScriptTest, DistancesIntoASymbolSurviveSegmentsThatAreNotAtTheirOffset) {
  ProfileBuilder builder;
  builder.Sample("app", {"f+0x10@app"}).Sample("app", {"g+0x20@app"});
  for (profile::Symbol& symbol : builder.profile().symbols) {
    symbol.start.value += 0x400000;
    symbol.size = 0x100;
  }
  const std::string text = Script(builder);
  EXPECT_NE(text.find(" f+0x10 "), std::string::npos) << text;
  EXPECT_NE(text.find(" g+0x20 "), std::string::npos) << text;
}

TEST(ScriptTest, OnlySamplesThatPassTheFilterAreWritten) {
  ProfileBuilder builder;
  builder.Sample("a", {"f@x"}).Sample("b", {"g@y"}).Thread(7, 8).Sample("b", {"f@x"});
  const auto lines = [&](const Filter& filter) {
    const std::string text = Script(builder, {.filter = filter});
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines({}), 3);
  EXPECT_EQ(lines({.comms = {"b"}}), 2);
  EXPECT_EQ(lines({.comms = {"b"}, .dsos = {"/usr/lib/y"}}), 1);
  EXPECT_EQ(lines({.symbols = {"f"}, .pids = {7}, .tids = {8}}), 1);
  EXPECT_EQ(lines({.tids = {9}}), 0);
}

TEST(ScriptTest, OneSampleCanBeFormattedByItself) {
  ProfileBuilder builder;
  builder.Sample("a\nb", {"main@app", "f@app"});
  std::string text = "before\n";
  FormatSample(builder.profile(), builder.profile().rows[0], {}, &text);
  EXPECT_EQ(text,
            "before\n"
            "a?b     100 [000]     0.000000:    1000000 cpu-clock: \n"
            "\t            2000 f+0x0 (/usr/lib/app)\n"
            "\t            1000 main+0x0 (/usr/lib/app)\n"
            "\n");
}

}  // namespace
}  // namespace profiler::report

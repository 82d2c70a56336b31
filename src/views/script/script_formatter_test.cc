#include "src/views/script/script_formatter.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::script {
namespace {

using profile::HandmadeProfile;

std::string Script(HandmadeProfile& builder, const ScriptOptions& options = {},
                   const profile::SampleDetails& details = {}) {
  std::string text;
  ScriptFormatter formatter(builder.profile(), options);
  for (size_t row = 0; row < builder.profile().rows.size(); ++row) {
    formatter.FormatSample(builder.sample(row), details, &text);
  }
  return text;
}

ScriptOptions Showing(std::string_view fields) {
  return {.fields = ParseScriptFields(fields)->fields};
}

TEST(ScriptTest, ASampleIsABlockWithItsChainInnermostFirst) {
  HandmadeProfile builder;
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
  EXPECT_EQ(Script(builder,
                   {.fields = ParseScriptFields("-cpu")->fields, .inlines = false, .max_stack = 2}),
            "worker    4712  2180.110871:    1001001 cpu-clock: \n"
            "\t    7f0000004001 copy+0x1 ([kernel.kallsyms])\n"
            "\t    7f0000003029 outer+0x29 (/usr/lib/libc.so.6)\n"
            "\n");
}

TEST(ScriptTest, WithoutChainsASampleIsALine) {
  HandmadeProfile builder;
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
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}).Event("page-faults").Sample("app", {"f@app"}, 1, 2);
  EXPECT_EQ(
      Script(builder),
      "             app     100 [000]     0.000000:    1000000   cpu-clock:              1000 "
      "f+0x0 (/usr/lib/app)\n"
      "             app     100 [000]     0.000000:          2 page-faults:              1000 "
      "f+0x0 (/usr/lib/app)\n");
}

TEST(ScriptTest, DistancesIntoASymbolSurviveSegmentsThatAreNotAtTheirOffset) {
  HandmadeProfile builder;
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
  HandmadeProfile builder;
  builder.Sample("a", {"f@x"}).Sample("b", {"g@y"}).Thread(7, 8).Sample("b", {"f@x"});
  const auto lines = [&](const analysis::Filter& filter) {
    const std::string text = Script(builder, {.filter = filter});
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines({}), 3);
  EXPECT_EQ(lines({.comms = {"b"}}), 2);
  EXPECT_EQ(lines({.comms = {"b"}, .images = {"/usr/lib/y"}}), 1);
  EXPECT_EQ(lines({.symbols = {"f"}, .pids = {7}, .tids = {8}}), 1);
  EXPECT_EQ(lines({.tids = {9}}), 0);
}

TEST(ScriptTest, NamesThatWouldLookLikeLinesDoNot) {
  HandmadeProfile builder;
  builder.Sample("a\nb", {"main@app", "f@app"});
  EXPECT_EQ(Script(builder),
            "a?b     100 [000]     0.000000:    1000000 cpu-clock: \n"
            "\t            2000 f+0x0 (/usr/lib/app)\n"
            "\t            1000 main+0x0 (/usr/lib/app)\n"
            "\n");
  HandmadeProfile odd;
  odd.Event("a\x1b[2J\nb").Sample("app", {"f@app"});
  EXPECT_EQ(Script(odd, Showing("event")), "  a?[2J?b: \n");
}

TEST(ScriptTest, ShowsTheFieldsThatAreAskedFor) {
  HandmadeProfile builder;
  builder.Thread(7, 8).Cpu(3).Time(1'000'000'002).Sample("app", {"f+0x10@app"});
  EXPECT_EQ(Script(builder, Showing("ip")), "             1010\n");
  EXPECT_EQ(Script(builder, Showing("pid,tid,sym")), "      7/8       \n");
  EXPECT_EQ(Script(builder, Showing("tid,ip,sym")), "      8              1010 f\n");
  EXPECT_EQ(Script(builder, Showing("ip,dso,dsoff")), "             1010 (/usr/lib/app+0x1010)\n");
  ScriptOptions nanoseconds = Showing("time");
  nanoseconds.nanoseconds = true;
  EXPECT_EQ(Script(builder, nanoseconds), "    1.000000002: \n");
}

TEST(ScriptTest, TimesAreCountedFromTheFirstLineOrFromTheOneBefore) {
  HandmadeProfile builder;
  builder.Time(7'000'000'000).Sample("app", {"f@app"});
  builder.Time(8'500'000'000).Sample("app", {"f@app"});
  builder.Time(8'500'001'000).Sample("app", {"f@app"});
  ScriptOptions options = Showing("time");
  EXPECT_EQ(Script(builder, options), "    7.000000: \n    8.500000: \n    8.500001: \n");
  options.times_from = TimeOrigin::kFirst;
  EXPECT_EQ(Script(builder, options), "    0.000000: \n    1.500000: \n    1.500001: \n");
  options.times_from = TimeOrigin::kPrevious;
  EXPECT_EQ(Script(builder, options), "    0.000000: \n    1.500000: \n    0.000001: \n");
}

TEST(ScriptTest, NoTimeIsCountedFromRecordsThatAreOlderThanTheRecording) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}).Time(7'000'000'000).Sample("app", {"f@app"});
  builder.Time(9'000'000'000).Sample("app", {"f@app"});
  ScriptOptions options = Showing("time");
  options.times_from = TimeOrigin::kFirst;
  EXPECT_EQ(Script(builder, options), "    0.000000: \n    0.000000: \n    2.000000: \n");
}

TEST(ScriptTest, OnlyBranchesAreIndentedByTheirCalls) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "f@app"}, 1, 2);
  EXPECT_EQ(Script(builder, Showing("comm,tid,period,callindent,sym")),
            "             app     100          2 \n");
}

TEST(ScriptTest, ShowsWhatASampleSaysBesides) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"});
  profile::SampleDetails details;
  details.misc = 2;
  details.addr = 0x7000;
  details.data_src = 0x142;
  details.data_source = "|OP LOAD";
  details.weight = 12;
  details.instruction_latency = 3;
  details.retire_latency = 4;
  details.phys_addr = 0xabc;
  details.data_page_size = 4096;
  details.cgroup = "/user";
  details.user_registers = {2, {{"AX", 0x1f}, {"FLAGS", 0}}};
  details.branches = {{.from = 0x10, .to = 0x20, .flags = 1 | 0x12 << 4 | 4 << 20}};
  const auto shown = [&](std::string_view fields) {
    return Script(builder, Showing(fields), details);
  };
  EXPECT_EQ(shown("misc"), "U     \n");
  EXPECT_EQ(shown("addr"), "            7000\n");
  EXPECT_EQ(shown("data_src"), "             142 |OP LOAD\n");
  EXPECT_EQ(shown("weight,ins_lat,retire_lat"),
            "              12               3               4\n");
  EXPECT_EQ(shown("cgroup,phys_addr"), " /user             abc\n");
  EXPECT_EQ(shown("data_page_size,code_page_size"), " 4K N/A\n");
  EXPECT_EQ(shown("uregs,iregs"), " ABI:2    AX:0x1f FLAGS:0x0 \n");
  const std::byte code[] = {std::byte{0x0f}, std::byte{0xaf}, std::byte{0xc1}};
  details.instruction = code;
  EXPECT_EQ(shown("insnlen,insn"), " ilen: 3 insn: 0f af c1\n");
  details.instruction = {};
  EXPECT_EQ(shown("insnlen,insn"), " ilen: 0\n");
  EXPECT_EQ(shown("brstack"), " 0x10/0x20/M/-/-/18/CALL/- \n");
  EXPECT_EQ(shown("brstacksym"), "[unknown]/[unknown]/M/-/-/18/CALL/- \n");
}

// Sets the source files of the builder's lines, in order of frames and their functions.
void PlaceLines(HandmadeProfile& builder, const std::vector<std::string>& paths) {
  profile::Profile& profile = builder.profile();
  for (size_t i = 0; i < paths.size(); ++i) {
    profile.lines[i].file = profile.strings.Intern(paths[i]);
    profile.lines[i].line = static_cast<uint32_t>(10 + i);
  }
}

TEST(ScriptTest, BelowAFrameIsItsSourceLine) {
  HandmadeProfile builder;
  builder.LoadedAt(0x7f0000000000);
  builder.Sample("app", {"main@app", "start@libc.so.6", "0x99@libc.so.6", "0x77",
                         "copy@[kernel.kallsyms]", "inl<outer+0x29@app"});
  PlaceLines(builder, {"/src/main.cc", "", "", "/src/inl.h", "outer.cc"});
  const std::string kBelowOuter =
      "\t    7f0000003000 copy\n  [kernel.kallsyms][7f0000003000]\n"
      "\t              77 [unknown]\n"
      "\t              99 [unknown]\n  libc.so.6[ffff810000000099]\n"
      "\t    7f0000002000 start\n  libc.so.6[2000]\n"
      "\t    7f0000001000 main\n  main.cc:10\n"
      "\n";
  EXPECT_EQ(Script(builder, Showing("ip,sym,srcline")),
            "\n"
            "\t    7f0000005029 inl\n  inl.h:13 (inlined)\n"
            "\t    7f0000005029 outer\n  outer.cc:14\n" +
                kBelowOuter);
  ScriptOptions no_inlines = Showing("ip,sym,srcline");
  no_inlines.inlines = false;
  EXPECT_EQ(Script(builder, no_inlines), "\n\t    7f0000005029 outer\n  inl.h:13\n" + kBelowOuter);
  ScriptOptions whole_paths = Showing("ip,srcline");
  whole_paths.full_source_paths = true;
  whole_paths.max_stack = 1;
  EXPECT_EQ(Script(builder, whole_paths),
            "\n"
            "\t    7f0000005029\n  /src/inl.h:13 (inlined)\n"
            "\t    7f0000005029\n  outer.cc:14\n"
            "\n");
}

TEST(ScriptTest, WithoutChainsTheSourceLineIsThatOfTheInstruction) {
  HandmadeProfile builder;
  builder.Sample("app", {"inl<outer+0x29@app"});
  PlaceLines(builder, {"/src/inl.h", "/src/outer.cc"});
  EXPECT_EQ(Script(builder, Showing("ip,sym,srcline")), "             2029 outer\n  inl.h:10\n");
}

TEST(ScriptTest, WithoutALineTheAddressIsTheImagesOwn) {
  HandmadeProfile builder;
  builder.LinkedAt(0x400000).Sample("app", {"f+0x10@app"}).Sample("app", {"0x123@app"});
  EXPECT_EQ(Script(builder, Showing("ip,srcline")),
            "             1010\n  app[401010]\n"
            "              123\n  app[400123]\n");
}

TEST(ScriptTest, ASampleThatDoesNotSayItsCpuIsOnNone) {
  HandmadeProfile builder;
  builder.Cpu(profile::kNoCpu).Sample("app", {"f@app"});
  EXPECT_EQ(Script(builder, Showing("cpu,ip")), "[-01]              1000\n");
}

TEST(ScriptTest, ACallChainWithoutEntriesHasNoFrames) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "f@app"});
  profile::SampleRow row = builder.sample(0);
  row.has_chain = false;
  std::string text;
  ScriptFormatter(builder.profile(), Showing("comm,ip")).FormatSample(row, {}, &text);
  EXPECT_EQ(text, "app \n\n");
}

TEST(ScriptTest, ACallChainLooksTheSameHoweverOftenItIsShown) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "f+0x10@app"});
  ScriptFormatter formatter(builder.profile(), {});
  std::string first;
  formatter.FormatSample(builder.sample(0), {}, &first);
  for (int i = 0; i < 4; ++i) {
    std::string again;
    formatter.Prefetch(std::array{builder.sample(0)});
    formatter.FormatSample(builder.sample(0), {}, &again);
    EXPECT_EQ(again, first);
  }
}

TEST(ScriptTest, AThreadWhoseNameIsLearntLaterIsShownWithItFromThenOn) {
  HandmadeProfile builder;
  builder.Sample(":100", {"main@app", "f@app"});
  ScriptFormatter formatter(builder.profile(), {.fields = {ScriptField::kComm}});
  std::string text;
  formatter.FormatSample(builder.sample(0), {}, &text);
  builder.profile().threads[0].comm = builder.profile().strings.Intern("cat");
  formatter.FormatSample(builder.sample(0), {}, &text);
  EXPECT_EQ(text, "            :100 \n             cat \n");
}

TEST(ScriptTest, OtherRecordsHaveTheSameHead) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"});
  std::string text;
  const ScriptHead head{
      .comm = "ls", .pid = 0xffffffff, .tid = 4, .time = 5'000, .misc = 1, .marks = "M"};
  ScriptFormatter(builder.profile(), Showing("comm,pid,tid,misc,time,ip"))
      .FormatHead(head, profile::EventId{0}, &text);
  EXPECT_EQ(text, "              ls      -1/4       KM        0.000005: ");
}

TEST(ScriptFieldsTest, AreReadAsPerfReadsThem) {
  using enum ScriptField;
  EXPECT_EQ(ParseScriptFields("comm,ip")->fields, (ScriptFields{kComm, kIp}));
  ScriptFields changed = DefaultScriptFields();
  changed.Add(kAddr);
  changed.Remove(kComm);
  EXPECT_EQ(ParseScriptFields("+addr,-comm")->fields, changed);
  EXPECT_EQ(ParseScriptFields("+addr,-comm")->asked_for, ScriptFields{kAddr});
}

TEST(ScriptFieldsTest, SayWhatIsWrong) {
  const auto message = [](std::string_view text) {
    return std::string(ParseScriptFields(text).status().message());
  };
  EXPECT_EQ(message("foo"), "-F: \"foo\" is not a field");
  EXPECT_EQ(message("comm,disasm"), "-F: \"disasm\" cannot be shown");
  EXPECT_EQ(message("sw:ip"),
            "-F: \"sw:ip\": fields cannot differ between kinds of events; leave out the kind");
  EXPECT_EQ(message("comm,+ip"), "-F: fields with + or - and without cannot be mixed");
  EXPECT_EQ(message(","), "-F: names no field");
}

TEST(ScriptTest, AChainOfTooManyInlinedCallsIsShownWithoutThem) {
  const auto call = [](const std::string& function, size_t inlined_calls) {
    std::string text;
    for (size_t i = 0; i < inlined_calls; ++i) text += "i<";
    return text + function + "@app";
  };
  HandmadeProfile builder;
  builder.Sample("app", {call("main", 511), call("run", 511), call("loop", 511)});
  std::string text;
  ScriptFormatter formatter(builder.profile(), Showing("ip,sym"));
  formatter.FormatSample(builder.sample(0), {}, &text);
  std::string functions;
  size_t inlined_calls = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (line.find("(inlined)") != line.npos) {
      ++inlined_calls;
    } else if (!line.empty()) {
      functions += absl::StrCat(line.substr(line.rfind(' ') + 1), " after ", inlined_calls, "\n");
    }
  }
  EXPECT_EQ(functions,
            "loop after 511\n"
            "run after 511\n"
            "main after 511\n");
  EXPECT_TRUE(formatter.leaves_out_inlined_calls());
}

}  // namespace
}  // namespace profiler::script

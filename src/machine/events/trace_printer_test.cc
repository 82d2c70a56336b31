#include "src/machine/events/trace_printer.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/machine/events/testing/example_tracepoint.h"
#include "src/machine/events/testing/trace_comparison.h"
#include "src/machine/events/trace_formats.h"
#include "src/machine/events/tracepoints.h"
#include "src/machine/events/tracing_data.h"

// libtraceevent 1.7.1 loses some bytes for each type in an expression. LeakSanitizer calls this.
extern "C" const char* __lsan_default_suppressions() { return "leak:libtraceevent"; }

namespace profiler::events {
namespace {

constexpr char kCommon[] =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n";

// Fields for all formats below.
constexpr char kFields[] =
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long flags;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:u16 words[4];\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:const void * function;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:u8 uuid[16];\toffset:56;\tsize:16;\tsigned:0;\n"
    "\n";

struct Record {
  uint16_t type = 40;
  uint8_t flags = 0, preempt_count = 0;
  int32_t common_pid = 7;
  char comm[16] = "bash";
  int32_t pid = -3;
  uint16_t name_offset = 72, name_size = 6;
  uint64_t bits = 0x15;
  uint16_t words[4] = {1, 2, 3, 4};
  uint64_t function = 0xffffffff81000258;
  uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  char name[8] = "a.txt";
};

class TracePrinterTest : public testing::Test {
 protected:
  std::string SectionOf(const std::string& print) {
    tree_.Write("sys/kernel/tracing/events/a/b/id", "40\n");
    tree_.Write("sys/kernel/tracing/events/a/b/format", std::string("name: b\nID: 40\n") + kCommon +
                                                            kFields + "print fmt: " + print + "\n");
    return *TracingData(tree_.roots(), {{"a", "b", 40}});
  }
  // Returns the text of a record, "left" if TracePrinter leaves it to libtraceevent, and both texts if
  // libtraceevent prints another one.
  std::string Text(const std::string& print, const Record& record = {},
                   const TraceParts& parts = {}) {
    const std::string section = SectionOf(print);
    const auto printer = TracePrinter::Parse(section);
    if (!printer.ok()) return "not parsed";
    std::string text, expected;
    if (!printer->AppendParts(BytesOf(record), parts, &text)) return "left";
    // libtraceevent 1.7.1 reads freed memory while it parses some malformed formats, so only a
    // process of its own may parse those (trace_process.h).
    const auto formats = TraceFormats::Parse(section);
    if (!formats.ok()) return "not parsed";
    formats->AppendParts(BytesOf(record), 0, parts, &expected);
    return text == expected ? text : text + " but libtraceevent prints " + expected;
  }
  // Returns the text of one number, like Text.
  std::string Number(const std::string& conversion, uint64_t number) {
    return Text('"' + conversion + "\", REC->flags", {.bits = number});
  }

  procfs::FakeTree tree_;
};

TEST_F(TracePrinterTest, PrintsNumbersAndTexts) {
  EXPECT_EQ(Text("\"comm=%s pid=%d [%x] 100%%\\n\", REC->comm, REC->pid, REC->common_pid"),
            "comm=bash pid=-3 [7] 100%\n");
  EXPECT_EQ(Text("\"%s|%8s|%-8s|%.2s|%.*s\", __get_str(name), REC->comm, REC->comm, REC->comm, 3, "
                 "REC->comm"),
            "a.txt|    bash|bash    |ba|bas");
  EXPECT_EQ(Text("\"no arguments\""), "no arguments");
}

TEST_F(TracePrinterTest, PrintsNumbersAsPrintfDoes) {
  EXPECT_EQ(Number("%d %%", UINT64_MAX), "-1 %");
  EXPECT_EQ(Number("%ld", uint64_t{1} << 63), "-9223372036854775808");
  EXPECT_EQ(Number("%hhd", 0x1ff), "-1");
  EXPECT_EQ(Number("%hu", 0x1ffff), "65535");
  EXPECT_EQ(Number("%08lx", 0xabc), "00000abc");
  EXPECT_EQ(Number("%#010x", 0xabc), "0x00000abc");
  EXPECT_EQ(Number("%#lX", 0xabc), "0XABC");
  EXPECT_EQ(Number("%#x", 0), "0");
  EXPECT_EQ(Number("%#o", 8), "010");
  EXPECT_EQ(Number("%#.0o", 0), "0");
  EXPECT_EQ(Number("%.0d", 0), "");
  EXPECT_EQ(Number("%06.3ld", 7), "   007");
  EXPECT_EQ(Number("%-6ld|", 7), "7     |");
  EXPECT_EQ(Number("%03d", static_cast<uint64_t>(-7)), "-07");
  EXPECT_EQ(Number("%zu %%", 12), "12 %");
}

TEST_F(TracePrinterTest, PrintsNamesOfBitsAndValues) {
  const std::string flags =
      "\"%s\", __print_flags(REC->flags, \"|\", {(1 << 0), \"A\"}, {0x4, \"B\"}, { 8, \"C\" })";
  EXPECT_EQ(Text(flags, {.bits = 5}), "A|B");
  EXPECT_EQ(Text(flags, {.bits = 0x15}), "A|B|0x10");
  EXPECT_EQ(Text(flags, {.bits = 0x10}), "0x10");
  EXPECT_EQ(Text(flags, {.bits = 0}), "");
  const std::string symbols = "\"%s\", __print_symbolic(REC->pid, {0, \"zero\"}, {-3, \"three\"})";
  EXPECT_EQ(Text(symbols, {.pid = 0}), "zero");
  EXPECT_EQ(Text(symbols, {.pid = 5}), "0x5");
  EXPECT_EQ(Text("\"%s\", __print_symbolic(REC->flags, {HI_SOFTIRQ, \"HI\"}, {NAME, \"name\"})",
                 {.bits = UINT64_MAX}),
            "name");
  EXPECT_EQ(Text(symbols), "0xfffffffd");
}

TEST_F(TracePrinterTest, ComputesArguments) {
  EXPECT_EQ(Text("\"%d %d\", REC->words[1], REC->words[500]"), "2 0");
  EXPECT_EQ(Text("\"%d|%s\", unknown_name, REC->pid ? ((void *)0) : \"x\""), "0|");
  EXPECT_EQ(Text("\"%s\", REC->flags & (4 + 1) ? \"yes\" : \"no\""), "yes");
  EXPECT_EQ(Text("\"%d,%d\", ((unsigned int) ((REC->flags) >> 2)), (REC->flags & ((1U << 2) - 1))"),
            "5,1");
  EXPECT_EQ(Text("\"%d %d %d %d\", !REC->flags, ~REC->flags, -REC->pid, (u8)REC->pid"),
            "0 -22 3 253");
  EXPECT_EQ(Text("\"%u\", __get_dynamic_array_len(name)"), "6");
}

TEST_F(TracePrinterTest, BindsOperatorsAsLibtraceeventDoes) {
  EXPECT_EQ(Text("\"%d\", 10 - REC->words[1] - REC->words[2]"), "11");  // 5 in C
  EXPECT_EQ(Text("\"%d\", REC->words[1] * (REC->words[2] + 1)"), "7");  // 8 in C
}

TEST_F(TracePrinterTest, PrintsPointersFunctionsAndUuids) {
  EXPECT_EQ(Text("\"%p %p\", REC->function, (void *)REC->common_flags"),
            "0xffffffff81000258 (nil)");
  EXPECT_EQ(Text("\"%pS %ps\", (void *)REC->function, REC->function"),
            "\x01"
            "ffffffff81000258\x02+0x0 \x01"
            "ffffffff81000258\x02");
  EXPECT_EQ(Text("\"%pU\", REC->uuid"), "01020304-0506-0708-090a-0b0c0d0e0f10");
}

TEST_F(TracePrinterTest, LeavesToLibtraceeventWhatItDoesNotSupport) {
  for (const char* print :
       {"\"%c\", REC->pid", "\"%pM\", REC->uuid", "\"%s\", __print_hex(REC->uuid, 16)",
        "\"%s\", REC->pid", "\"%d\", REC->words[REC->words[0]]", "\"%d\", \"text\"",
        "\"%d\", sizeof(REC->pid)", "\"%d\", REC->flags ^ 1", "\"%d\"", "\"%*d\", 3, REC->pid",
        "\"%1000d\", REC->pid", "\"%+d\", REC->pid", "\"%d\", REC->unknown", "\"%d\", 'a'",
        "\"%d\", (1", "\"%"}) {
    EXPECT_EQ(Text(print), "left") << print;
  }
  EXPECT_EQ(Text("\"%d\", 1 / REC->pid", {.pid = 0}), "left");
  EXPECT_EQ(Text("\"%.*s\", REC->pid, REC->comm"), "left");
}

TEST_F(TracePrinterTest, LeavesDeepAndLongFormatsToLibtraceevent) {
  const std::string deep = std::string(1000, '(') + "1" + std::string(1000, ')');
  std::string section = SectionOf("\"%d\", " + deep), text;
  EXPECT_FALSE(TracePrinter::Parse(section)->AppendParts(BytesOf(Record()), {}, &text));
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  section = SectionOf("\"%d\", " + sum);
  EXPECT_FALSE(TracePrinter::Parse(section)->AppendParts(BytesOf(Record()), {}, &text));
  std::string repeated = "\"", arguments;
  for (int i = 0; i < 2000; ++i) {
    repeated += "%999s";
    arguments += ", \"\"";
  }
  section = SectionOf(repeated + '"' + arguments);
  EXPECT_FALSE(TracePrinter::Parse(section)->AppendParts(BytesOf(Record()), {}, &text));
  EXPECT_EQ(text, "");
}

TEST_F(TracePrinterTest, PrintsNothingOfARecordThatIsNotWhole) {
  EXPECT_EQ(Text("\"%s\", __get_str(name)", {.name_offset = 0xfff0}), "");
  EXPECT_EQ(Text("\"%s\", __get_str(name)", {.name_size = 3}), "");  // without a NUL
  EXPECT_EQ(Text("\"x\"", {.type = 41}), "");
  std::string text;
  const auto printer = TracePrinter::Parse(SectionOf("\"x\""));
  EXPECT_TRUE(printer->AppendParts(BytesOf(Record()).first(4), {}, &text));
  EXPECT_TRUE(printer->AppendParts(BytesOf(Record()).first(60), {}, &text));
  EXPECT_EQ(text, "");
}

TEST_F(TracePrinterTest, PrintsFieldsFromTheTextOrByTheirValue) {
  const TraceParts parts{.fields = {{"", "comm"},
                                    {"a:b", "pid"},
                                    {"a:c", "pid"},
                                    {"", "flags"},
                                    {"", "name"},
                                    {"", "function"},
                                    {"", "other"}},
                         .end = ';'};
  EXPECT_EQ(Text("\"pid=%x 0x%lx\", REC->pid, REC->flags", {}, parts),
            "pid=fffffffd 0x15;bash;fffffffd;;0x15;a.txt;0xffffffff81000258;;");
  const TraceParts without_text{.text = false, .fields = {{"", "pid"}, {"", "flags"}}, .end = ';'};
  EXPECT_EQ(Text("\"\"", {}, without_text), ";-3;0x15;");
  EXPECT_EQ(Text("\"\"", {}, {.fields = {{"", "words"}}}), "left");
}

TEST_F(TracePrinterTest, LeavesEventsWithTheSameIdToLibtraceevent) {
  SectionOf("\"one\"");
  tree_.Write("sys/kernel/tracing/events/a/c/id", "40\n");
  tree_.Write("sys/kernel/tracing/events/a/c/format",
              std::string("name: c\nID: 40\n") + kCommon + kFields + "print fmt: \"two\"\n");
  const std::string section = *TracingData(tree_.roots(), {{"a", "b", 40}, {"a", "c", 40}});
  std::string text;
  EXPECT_FALSE(TracePrinter::Parse(section)->AppendParts(BytesOf(Record()), {}, &text));
}

TEST_F(TracePrinterTest, RefusesASectionThatIsCut) {
  const std::string section = SectionOf("\"x\"");
  for (size_t size = 0; size < section.size() - 8; ++size) {
    EXPECT_EQ(TracePrinter::Parse(section.substr(0, size)).status(), TracingDataIsCut()) << size;
  }
}

TEST(TracePrinterOnThisMachineTest, PrintsAllTracepointsAsLibtraceeventDoes) {
  const auto tracepoints = FindTracepoints({}, "*", "*");
  if (!tracepoints.ok()) GTEST_SKIP() << tracepoints.status().message();
  const auto section = TracingData({}, *tracepoints);
  ASSERT_TRUE(section.ok()) << section.status();
  const TraceComparison comparison = CompareTracePrints(*section, /*count=*/60, /*seed=*/1);
  EXPECT_EQ(absl::StrJoin(comparison.differences, "\n"), "");
  // A few formats need libtraceevent; if they become many, script becomes slow.
  EXPECT_LE(comparison.left.size() * 20, tracepoints->size())
      << absl::StrJoin(comparison.left, " ");
  RecordProperty("left", absl::StrJoin(comparison.left, " "));
  RecordProperty("records", static_cast<int>(comparison.records));
}

}  // namespace
}  // namespace profiler::events

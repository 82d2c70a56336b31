#include "src/views/script/script_printer.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::script {
namespace {

// Returns a recording with one sample, of an event with this sample_type.
std::unique_ptr<perf_data::Recording> RecordingOf(uint64_t sample_type) {
  const perf_event::Attr attr = perf_event::SampleAttr(sample_type);
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "page-faults", {}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.At(1).By(7, 7).Sample(0x1234);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish({}).ok());
  return *perf_data::Recording::Open(path);
}

absl::Status Print(uint64_t sample_type, const ScriptPlan& plan) {
  const auto recording = RecordingOf(sample_type);
  return ScriptPrinter(*recording, plan, [](std::string_view) {}).Print();
}

constexpr uint64_t kType = perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime;

TEST(ScriptPrinterTest, ShowsOnlyFieldsThatAreRecorded) {
  ScriptPlan plan;
  plan.fields = *ParseScriptFields("ip,addr");
  EXPECT_EQ(Print(kType, plan).message(), "-F: the samples of page-faults do not have \"addr\"");
}

// Returns the text of a recording with one tracepoint sample of this sample_type.
std::string Script(uint64_t sample_type, const ScriptPlan& plan) {
  perf_event::Attr attr = perf_event::SampleAttr(sample_type);
  attr.type = perf_event::kTypeTracepoint;
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "sched:fork", {}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.At(1'000'000'000).By(7, 7).Comm("sh").Sample(0x1234);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish({}).ok());
  const auto recording = *perf_data::Recording::Open(path);
  std::string text;
  EXPECT_TRUE(
      ScriptPrinter(*recording, plan, [&](std::string_view more) { text += more; }).Print().ok());
  return text;
}

void SayFork(std::span<const TracepointRecord> records, const FunctionName&,
             std::vector<std::string>* texts) {
  texts->assign(records.size(), "comm=sh pid=7");
}

TEST(ScriptPrinterTest, OfATracepointShowsWhatItsRecordSaysAndNotWhereItIsInTheKernel) {
  ScriptPlan plan;
  plan.describe_tracepoints = SayFork;
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "              sh       7     1.000000: sched:fork: comm=sh pid=7\n");
  plan.fields = *ParseScriptFields("event,trace,ip");
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "sched:fork: comm=sh pid=7             1234\n");
  plan.fields = *ParseScriptFields("-trace");
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "              sh       7     1.000000: sched:fork: \n");
}

TEST(ScriptPrinterTest, EachRecordOfATracepointHasItsOwnTextWhateverTheFilterLeavesOut) {
  perf_event::Attr attr = perf_event::SampleAttr(kType | perf_event::kSampleRaw);
  attr.type = perf_event::kTypeTracepoint;
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "sched:fork", {}}}, size_t{0});
  ASSERT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  uint64_t time = 1'000'000'000;
  for (const std::string_view raw : {"one.", "two.", "tri."}) {
    const uint32_t tid = raw == "two." ? 8 : 7;
    records.By(tid, tid).Add(
        perf_event::kRecordSample, perf_event::kMiscUser,
        perf_event::Sample{.ip = 0x1234,
                           .pid = tid,
                           .tid = tid,
                           .time = time++,
                           .raw = std::as_bytes(std::span(raw.data(), raw.size()))});
  }
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  const auto recording = *perf_data::Recording::Open(path);
  ScriptPlan plan;
  plan.fields = *ParseScriptFields("tid,trace");
  plan.options.filter.tids = {7};
  plan.describe_tracepoints = [](std::span<const TracepointRecord> described, const FunctionName&,
                                 std::vector<std::string>* texts) {
    for (const auto& [cpu, raw] : described) texts->push_back(raw.substr(0, 4) + "\t\x1b|");
  };
  std::string text;
  ASSERT_TRUE(
      ScriptPrinter(*recording, plan, [&](std::string_view more) { text += more; }).Print().ok());
  EXPECT_EQ(text, "      7 one.\t?|\n      7 tri.\t?|\n");
}

TEST(ScriptPrinterTest, OfAMemoryEventShowsWhereTheDataWereAndWhatTheAccessTook) {
  perf_event::Attr attr = perf_event::SampleAttr(
      kType | perf_event::kSampleAddr | perf_event::kSampleWeight | perf_event::kSampleDataSrc);
  attr.type = perf_event::kTypeRaw;
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "mem-loads", {}}}, size_t{0});
  ASSERT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.By(7, 7).Comm("app").Add(perf_event::kRecordSample, perf_event::kMiscUser,
                                   perf_event::Sample{.ip = 0x1234,
                                                      .pid = 7,
                                                      .tid = 7,
                                                      .time = 1'000'000'000,
                                                      .addr = 0x7f00,
                                                      .weight = 42,
                                                      .data_src = 0x68100142});
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  const auto recording = *perf_data::Recording::Open(path);
  const auto print = [&](const ScriptPlan& plan) {
    std::string text;
    EXPECT_TRUE(
        ScriptPrinter(*recording, plan, [&](std::string_view more) { text += more; }).Print().ok());
    return text;
  };
  ScriptPlan plan;
  const std::string text = print(plan);
  EXPECT_NE(text.find(" 7f00 "), std::string::npos) << text;
  EXPECT_NE(text.find("|OP LOAD|LVL L1 hit|"), std::string::npos) << text;
  EXPECT_NE(text.find(" 42 "), std::string::npos) << text;
  plan.fields = *ParseScriptFields("-addr,-data_src");
  EXPECT_EQ(print(plan).find("7f00"), std::string::npos);
}

TEST(ScriptPrinterTest, ThreadsAreCalledAsTheyWereAtEachSampleAmongOtherRecords) {
  const perf_event::Attr attr = perf_event::SampleAttr(kType);
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {}}}, size_t{0});
  ASSERT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.At(1).By(7, 7).Sample(0x1234);
  records.At(2).Comm("first").Sample(0x1234);
  records.At(3).Comm("second").Sample(0x1234);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  const auto recording = *perf_data::Recording::Open(path);
  const auto print = [&](bool tasks) {
    ScriptPlan plan;
    plan.fields = *ParseScriptFields("comm,ip");
    plan.records.tasks = tasks;
    std::string text;
    EXPECT_TRUE(
        ScriptPrinter(*recording, plan, [&](std::string_view more) { text += more; }).Print().ok());
    return text;
  };
  EXPECT_EQ(print(false),
            "              :7              1234\n"
            "           first              1234\n"
            "          second              1234\n");
  EXPECT_EQ(print(true),
            "              :7              1234\n"
            "           first PERF_RECORD_COMM: first:7/7\n"
            "           first              1234\n"
            "          second PERF_RECORD_COMM: second:7/7\n"
            "          second              1234\n");
}

TEST(ScriptPrinterTest, HandsOutTheSamplesByTheirEventsWhereThatIsAskedFor) {
  const auto recording = RecordingOf(kType);
  ScriptPlan plan;
  plan.fields = *ParseScriptFields("ip");
  plan.records.tasks = true;
  std::string samples, others;
  plan.write_sample = [&](profile::EventId event, std::string_view text) {
    EXPECT_EQ(event, profile::EventId{0});
    samples += text;
  };
  ScriptPrinter printer(*recording, plan, [&](std::string_view text) { others += text; });
  EXPECT_TRUE(printer.Print().ok());
  EXPECT_EQ(samples, "             1234\n");
  EXPECT_EQ(others, "");
}

TEST(ScriptPrinterTest, NamesTheFieldsThatNoSampleHas) {
  const auto recording = RecordingOf(kType);
  const auto skipped = [&](std::string_view fields) {
    ScriptPlan plan;
    plan.fields = *ParseScriptFields(fields);
    std::string lines;
    for (const std::string& line : ScriptPrinter(*recording, plan, {}).SkippedFields()) {
      lines += line + "\n";
    }
    return lines;
  };
  EXPECT_EQ(skipped("-comm"), "no sample has \"cpu\", so it is not shown\n");
  EXPECT_EQ(skipped("comm,ip"), "");
}

}  // namespace
}  // namespace profiler::script

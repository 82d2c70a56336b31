#include "src/script/script_printer.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "src/perf_data/recording_builder.h"

namespace profiler::script {
namespace {

// A recording of one sample, of an event that records this.
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
  plan.fields = *report::ParseScriptFields("ip,addr");
  EXPECT_EQ(Print(kType, plan).message(), "-F: the samples of page-faults do not have \"addr\"");
}

// A recording of one sample of a tracepoint, of which it is made what the samples of the type say.
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

TEST(ScriptPrinterTest, OfATracepointShowsWhatItsRecordSaysAndNotWhereItIsInTheKernel) {
  ScriptPlan plan;
  plan.describe_tracepoint = [](std::span<const std::byte>, uint32_t, std::string* out) {
    *out += "comm=sh pid=7";
  };
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "              sh       7     1.000000: sched:fork: comm=sh pid=7\n");
  plan.fields = *report::ParseScriptFields("event,trace,ip");
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "sched:fork: comm=sh pid=7             1234\n");
  plan.fields = *report::ParseScriptFields("-trace");
  EXPECT_EQ(Script(kType | perf_event::kSampleRaw, plan),
            "              sh       7     1.000000: sched:fork: \n");
}

TEST(ScriptPrinterTest, HandsOutTheSamplesByTheirEventsWhereThatIsAskedFor) {
  const auto recording = RecordingOf(kType);
  ScriptPlan plan;
  plan.fields = *report::ParseScriptFields("ip");
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
    plan.fields = *report::ParseScriptFields(fields);
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

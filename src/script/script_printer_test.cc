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

}  // namespace
}  // namespace profiler::script

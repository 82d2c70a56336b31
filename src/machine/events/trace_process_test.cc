#include "src/machine/events/trace_process.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/machine/events/testing/example_tracepoint.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::events {
namespace {

using Record = ExampleRecord;

class TraceProcessTest : public testing::Test {
 protected:
  std::string SectionOf(const std::string& print) { return ExampleTracingData(tree_, print); }

  procfs::FakeTree tree_;
};

TEST_F(TraceProcessTest, SaysWhatRecordsSay) {
  const auto process = TraceProcess::Start(SectionOf("\"id %ld\", REC->id"));
  ASSERT_TRUE(process.ok()) << process.status();
  std::string text = "first: ";
  EXPECT_TRUE((*process)->Append(BytesOf(Record()), 0, &text).ok());
  EXPECT_EQ(text, "first: id 5");
  text.clear();
  EXPECT_TRUE((*process)->Append(BytesOf(Record{.type = 1}), 0, &text).ok());
  EXPECT_EQ(text, "");
  EXPECT_TRUE((*process)->Append(BytesOf(Record{.id = -1}), 0, &text).ok());
  EXPECT_EQ(text, "id -1");
}

TEST_F(TraceProcessTest, SaysWhatManyRecordsSayAtOnce) {
  const auto process = TraceProcess::Start(SectionOf("\"id %ld\", REC->id"));
  ASSERT_TRUE(process.ok()) << process.status();
  std::vector<TraceRecord> records;
  for (const int id : {7, -1, 8}) records.emplace_back(0, TextOf(BytesOf(Record{.id = id})));
  records[1].second.resize(4);  // too short for a record
  std::vector<std::string> texts;
  EXPECT_TRUE((*process)->Texts(records, &texts).ok());
  EXPECT_EQ(texts, (std::vector<std::string>{"id 7", "", "id 8"}));
}

TEST_F(TraceProcessTest, SaysWhichFieldsEventsHave) {
  const auto process = TraceProcess::Start(SectionOf("\"id %ld\", REC->id"));
  ASSERT_TRUE(process.ok()) << process.status();
  const auto fields = (*process)->Fields();
  ASSERT_TRUE(fields.ok()) << fields.status();
  ASSERT_EQ(fields->size(), 1u);
  EXPECT_EQ(fields->front().event, "a:b");
  EXPECT_EQ(fields->front().fields, (std::vector<std::string>{"id"}));
}

TEST_F(TraceProcessTest, SaysTheFieldsThatAreAskedForByTextOrValue) {
  const auto text_of = [&](const std::string& print, const TraceParts& parts, Record record) {
    const auto process = TraceProcess::Start(SectionOf(print), parts);
    std::string text;
    if (!process.ok()) return std::string(process.status().message());
    EXPECT_TRUE((*process)->Append(BytesOf(record), 0, &text).ok());
    return text;
  };
  const TraceParts both{.fields = {{"", "id"}}, .end = ';'};
  EXPECT_EQ(text_of("\"id %ld\", REC->id", both, {}), "id 5;5;");
  EXPECT_EQ(text_of("\"id=0x%lx x\", REC->id", both, {.id = 16}), "id=0x10 x;0x10;");
  EXPECT_EQ(text_of("\"id %ld\", REC->id", both, {.type = 1}), ";;");
  const TraceParts of_events{
      .text = false, .fields = {{"a:b", "id"}, {"a:c", "id"}, {"", "other"}}, .end = ';'};
  EXPECT_EQ(text_of("\"id %ld\", REC->id", of_events, {}), ";5;;;");
}

TEST_F(TraceProcessTest, SaysWhatIsWrongWithTheSection) {
  const auto process = TraceProcess::Start("nothing of this kind");
  EXPECT_EQ(process.status().message(),
            "TRACING_DATA: cut short, so tracepoints are shown without fields");
}

TEST_F(TraceProcessTest, OutlivesAFormatThatLibtraceeventCrashesOn) {
  const auto process = TraceProcess::Start(SectionOf("\"id %ld\", 1 / REC->id"));
  ASSERT_TRUE(process.ok()) << process.status();
  std::string text;
  const absl::Status crashed = (*process)->Append(BytesOf(Record{.id = 0}), 0, &text);
  EXPECT_EQ(crashed.message(),
            "TRACING_DATA: libtraceevent crashes on the recording's formats of tracepoints, so "
            "these are shown without fields from there on");
  EXPECT_EQ(text, "");
  EXPECT_TRUE((*process)->Append(BytesOf(Record()), 0, &text).ok());
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace profiler::events

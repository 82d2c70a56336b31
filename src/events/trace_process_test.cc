#include "src/events/trace_process.h"

#include <string>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/events/tracing_data.h"
#include "src/procfs/fake_tree.h"

namespace profiler::events {
namespace {

struct Record {
  uint16_t type = 22;
  uint8_t flags = 0, preempt_count = 0;
  int32_t common_pid = 7;
  int64_t id = 5;
};

class TraceProcessTest : public testing::Test {
 protected:
  // Of one tracepoint, whose text is made so.
  std::string SectionOf(const std::string& print) {
    tree_.Write("sys/kernel/tracing/events/a/b/id", "22\n");
    tree_.Write("sys/kernel/tracing/events/a/b/format",
                "name: b\n"
                "ID: 22\n"
                "format:\n"
                "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                "\n"
                "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
                "\n"
                "print fmt: " +
                    print + "\n");
    return *TracingData(tree_.roots(), {{"a", "b", 22}});
  }

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

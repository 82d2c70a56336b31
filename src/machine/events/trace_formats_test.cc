#include "src/machine/events/trace_formats.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/machine/events/function_marks.h"
#include "src/machine/events/tracing_data.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::events {
namespace {

constexpr char kFork[] =
    "name: sched_process_fork\n"
    "ID: 366\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\n"
    "print fmt: \"comm=%s pid=%d\", __get_str(parent_comm), REC->parent_pid\n";

// A record of a fork as the kernel writes it.
struct Record {
  uint16_t type = 366;
  uint8_t flags = 0, preempt_count = 0;
  int32_t common_pid = 7;
  uint16_t comm_offset = 16, comm_size = 6;
  int32_t parent_pid = 4711;
  char comm[8] = "shell";
};

class TraceFormatsTest : public testing::Test {
 protected:
  TraceFormatsTest() {
    tree_.Write("sys/kernel/tracing/events/sched/sched_process_fork/id", "366\n");
    tree_.Write("sys/kernel/tracing/events/sched/sched_process_fork/format", kFork);
    section_ = *TracingData(tree_.roots(), {{"sched", "sched_process_fork", 366}});
  }
  std::string Text(std::span<const std::byte> raw) const {
    const auto formats = TraceFormats::Parse(section_);
    if (!formats.ok()) return std::string(formats.status().message());
    std::string text;
    formats->Append(raw, 0, &text);
    return text;
  }

  procfs::FakeTree tree_;
  std::string section_;
};

TEST_F(TraceFormatsTest, SaysWhatARecordSaysAsTheKernelWould) {
  EXPECT_EQ(Text(BytesOf(Record())), "comm=shell pid=4711");
}

TEST_F(TraceFormatsTest, FunctionsHaveTheNamesThatAreGivenForTheirAddresses) {
  struct Free {
    uint16_t type = 367;
    uint8_t flags = 0, preempt_count = 0;
    int32_t common_pid = 7;
    uint64_t call_site = 0xffffffff81000258;
  };
  const std::string fields = std::string(kFork).substr(0, std::string(kFork).find("\n\n") + 2);
  const std::string format =
      "name: kfree\nID: 367\n" + fields.substr(fields.find("format:")) +
      "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\n"
      "print fmt: \"at %pS\tby %ps in %pB\", (void *)REC->call_site, (void *)REC->call_site, "
      "(void *)REC->call_site\n";
  tree_.Write("sys/kernel/tracing/events/kmem/kfree/id", "367\n");
  tree_.Write("sys/kernel/tracing/events/kmem/kfree/format", format);
  section_ = *TracingData(tree_.roots(), {{"kmem", "kfree", 367}});
  const std::string marked = Text(BytesOf(Free()));
  std::string named, unnamed;
  AppendWithNames(
      marked,
      [](uint64_t address, bool with_offset) {
        EXPECT_EQ(address, 0xffffffff81000258);
        return std::string(with_offset ? "mmap+0x258" : "mmap");
      },
      &named);
  EXPECT_EQ(named, "at mmap+0x258\tby mmap in mmap+0x258");
  AppendWithNames(marked, {}, &unnamed);
  EXPECT_EQ(unnamed, "at 0xffffffff81000258\tby 0xffffffff81000258 in 0xffffffff81000258");
}

TEST_F(TraceFormatsTest, SaysNothingOfATracepointThatIsNotDescribed) {
  EXPECT_EQ(Text(BytesOf(Record{.type = 367})), "");
}

TEST_F(TraceFormatsTest, SaysNothingOfARecordWhoseFieldsLieOutsideOfIt) {
  const Record record;
  EXPECT_EQ(Text(BytesOf(record).first(14)), "");
  EXPECT_EQ(Text(BytesOf(record).first(4)), "");
  EXPECT_EQ(Text(BytesOf(Record{.comm_offset = 0xfff0})), "");
  EXPECT_EQ(Text(BytesOf(Record{.comm_size = 0x100})), "");
  EXPECT_EQ(Text(BytesOf(Record{.comm_size = 3})), "");  // without a NUL
}

TEST_F(TraceFormatsTest, ASectionThatIsCutShortIsNone) {
  for (size_t size = 0; size < section_.size() - 8; ++size) {
    EXPECT_EQ(TraceFormats::Parse(section_.substr(0, size)).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
}

TEST_F(TraceFormatsTest, AFormatThatCannotBeReadIsAsIfItWereNotThere) {
  const size_t at = section_.find("print fmt");
  section_.replace(at, 9, "printed: ");
  EXPECT_EQ(Text(BytesOf(Record{.type = 1})), "");
}

}  // namespace
}  // namespace profiler::events
